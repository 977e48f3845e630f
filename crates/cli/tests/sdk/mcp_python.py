"""The Python library `mcp` 2.x, as its users use it, against a served deployment.

The environment says where that is: FORECOURT_URL, with the certificate of its local authority in
SSL_CERT_FILE.
"""

import asyncio
import json
import os
import socket
import sys

import anyio
import jsonschema
import mcp_types as types
from mcp import Client, StdioServerParameters

URL = os.environ['FORECOURT_URL'] + '/mcp'

# Names below .localhost mean this machine; not every resolver knows that.
lookup = socket.getaddrinfo


def look_up(host, *rest, **more):
    name = host.decode() if isinstance(host, bytes) else str(host)
    return lookup('127.0.0.1' if name.endswith('.localhost') else host, *rest, **more)


socket.getaddrinfo = look_up


async def check(mode):
    asked = []

    async def elicit(_, params):
        asked.append(getattr(params, 'url', None))
        return types.ElicitResult(action='decline')

    async with Client(URL, mode=mode, elicitation_callback=elicit) as client:
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert {'ask', 'await', 'await_task', 'ask_echo', 'ask_gate'} <= set(names), names

        echoed = await client.call_tool('ask_echo', {'message': 'hello'})
        assert not echoed.is_error and echoed.structured_content['text'] == 'hello', echoed

        told = []

        async def progress(done, total, note):
            told.append(note)

        slow = await client.call_tool('ask_gate', {'message': 'slow'}, progress_callback=progress)
        assert slow.structured_content['state'] == 'completed' and 'half way' in told, (slow, told)

        begun = await client.call_tool('ask_worker', {'message': 'wait'})
        assert begun.structured_content['state'] == 'working', begun
        task = {'task_id': begun.structured_content['task_id'], 'cancel': True}
        ended = await client.call_tool('await_task', task)
        assert ended.structured_content['state'] == 'canceled', ended

        refused = await client.call_tool('ask_gate', {'message': 'forbid'})
        assert refused.is_error and refused.structured_content['refusal']['kind'] == 'forbidden', refused
        assert (await client.call_tool('ask_gate', {'message': 'pay'})).is_error
        assert len(asked) == 1 and asked[0].startswith('https://'), asked

        file = await client.call_tool('ask_gate', {'message': 'file'})
        assert 'image' in [block.type for block in file.content], file

        # The answer has the shape that the tool promised.
        for tool in (await client.list_tools()).tools:
            if tool.name == 'ask_echo':
                jsonschema.validate(echoed.structured_content, tool.output_schema)
            if tool.name == 'ask':
                found = await client.call_tool('ask', {'query': {'text': 'hello'}})
                jsonschema.validate(found.structured_content, tool.output_schema)
                assert found.structured_content['_meta']['response_type'] == 'answer', found
                assert json.loads(found.content[0].text) == found.structured_content

        # Who gives up waiting ends the work, and the connection goes on.
        with anyio.move_on_after(1) as given_up:
            await client.call_tool('ask_worker', {'message': 'wait'})
        assert given_up.cancelled_caught
        assert (await client.call_tool('ask_echo', {'message': 'still there'})).structured_content['text'] == 'still there'

        agent = await client.read_resource('agent://echo')
        assert json.loads(agent.contents[0].text)['tool'] == 'ask_echo', agent
        prompts = (await client.list_prompts()).prompts
        words = await client.get_prompt(prompts[0].name)
        assert 'ask_' in words.messages[0].content.text, words

        page = await client.read_resource('ui://forecourt/results.html')
        assert page.contents[0].text.startswith('<!doctype html>')
        assert (await client.list_prompts()).prompts


async def check_pipe():
    """The same over standard input and output."""
    command, *args = json.loads(os.environ['FORECOURT_PIPE'])
    async with Client(StdioServerParameters(command=command, args=args)) as client:
        echoed = await client.call_tool('ask_echo', {'message': 'over a pipe'})
        assert echoed.structured_content['text'] == 'over a pipe', echoed


asyncio.run(check_pipe())
asyncio.run(check({'modern': 'auto', 'legacy': 'legacy'}[sys.argv[1]]))
print('fine')
