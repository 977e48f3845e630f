"""a2a-sdk 1.x, as its users use it, against a served deployment."""

import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientError, AgentCardResolutionError
from a2a.types import (
    AgentCard,
    CancelTaskRequest,
    DeleteTaskPushNotificationConfigRequest,
    GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest,
    GetTaskRequest,
    ListTaskPushNotificationConfigsRequest,
    ListTasksRequest,
    Message,
    Part,
    Role,
    SendMessageConfiguration,
    SendMessageRequest,
    SubscribeToTaskRequest,
    TaskPushNotificationConfig,
    TaskState,
)
from a2a.utils.errors import TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from google.protobuf.json_format import MessageToDict, ParseDict
from jwt import PyJWK

from common import ALICE, CA, PATIENCE, PIECES, URL, WHOLE, Checks, Receiver, agree, public_key, raises

BINDINGS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON', 'grpc': 'GRPC'}
WIRES = tuple(BINDINGS)
checks = Checks()


def http(**headers):
    return httpx.AsyncClient(timeout=PATIENCE, headers=headers)


def channel(address):
    """A gRPC channel. gRPC has a resolver of its own, so it is told the address beside the name."""
    import grpc

    name, port = address.rsplit(':', 1)
    with open(CA, 'rb') as file:
        credentials = grpc.ssl_channel_credentials(file.read())
    options = [('grpc.ssl_target_name_override', name), ('grpc.default_authority', address)]
    return grpc.aio.secure_channel(f'ipv4:127.0.0.1:{port}', credentials, options)


async def client(wire, agent=None, *, streaming=False, headers=None, **config):
    """A client of one agent, or of the hub, made from its card."""
    own = http(**headers or {})
    base = f'{URL}/a2a/{agent}' if agent else URL
    card = await A2ACardResolver(own, base).get_agent_card()
    settings = ClientConfig(
        httpx_client=own,
        streaming=streaming,
        grpc_channel_factory=channel,
        supported_protocol_bindings=[BINDINGS[wire]],
        **config,
    )
    return ClientFactory(settings).create(card)


def request(text, *more, task=None, context=None, **configuration):
    message = Message(
        role=Role.ROLE_USER,
        message_id=str(uuid.uuid4()),
        parts=[Part(text=text), *more],
        task_id=task or '',
        context_id=context or '',
    )
    return SendMessageRequest(message=message, configuration=SendMessageConfiguration(**configuration))


async def answer(found, text, *more, **named):
    """The task that a message comes to."""
    items = [item async for item in found.send_message(request(text, *more, **named))]
    assert len(items) == 1, items
    return items[0].task


def text_of(holder):
    return ''.join(part.text for part in holder.parts)


def words(task):
    return ''.join(text_of(artifact) for artifact in task.artifacts)


def policy(status):
    return MessageToDict(status.message.metadata)['mentionable']['policy']


def assert_worked(items):
    """A stream of @worker at work, begun anywhere in it."""
    assert items[0].HasField('task'), items
    updates = [item.artifact_update for item in items if item.HasField('artifact_update')]
    pieces = [text_of(update.artifact) for update in updates]
    assert pieces[-1] == WHOLE and updates[-1].last_chunk and not updates[-1].append, updates
    assert words(items[0].task) + ''.join(pieces[:-1]) == WHOLE, items
    assert items[-1].status_update.status.state == TaskState.TASK_STATE_COMPLETED, items


@checks.on('discovery')
async def card_is_at_the_well_known_path(_):
    card = await A2ACardResolver(http(), URL).get_agent_card()
    assert card.name == 'Demo' and card.capabilities.streaming and card.capabilities.push_notifications
    offered = {(face.protocol_binding, face.protocol_version) for face in card.supported_interfaces}
    assert offered == {(b, v) for b in ('JSONRPC', 'HTTP+JSON') for v in ('1.0', '0.3')}, offered
    assert all(face.url.startswith(f'{URL}/') for face in card.supported_interfaces)


@checks.on('discovery')
async def card_for_1_0_alone_means_the_same(_):
    both = await A2ACardResolver(http(), URL).get_agent_card()
    alone = await A2ACardResolver(http(**{'A2A-Version': '1.0'}), URL).get_agent_card()
    for card in (both, alone):
        del card.signatures[:]
    assert both == alone


verify = create_signature_verifier(lambda kid, jku: PyJWK(public_key(jku, kid)), ['EdDSA', 'ES256'])


@checks.on('discovery', 'identity')
async def signatures_of_all_cards_hold(_):
    for base in (URL, f'{URL}/a2a/worker'):
        for headers in ({}, {'A2A-Version': '1.0'}):
            card = await A2ACardResolver(http(**headers), base).get_agent_card(signature_verifier=verify)
            changed = AgentCard()
            changed.CopyFrom(card)
            changed.name = 'Another'
            try:
                verify(changed)
            except InvalidSignaturesError:
                continue
            raise AssertionError('a changed card was believed')


@checks.on('discovery')
async def factory_connects_by_address_alone(_):
    found = await ClientFactory(ClientConfig(httpx_client=http(), streaming=False)).create_from_url(URL)
    items = [item async for item in found.send_message(request('hello'))]
    assert [text_of(item.message) for item in items] == ['hello'], items


@checks.on('discovery')
async def no_card_of_an_agent_that_is_not_here(_):
    error = await raises(AgentCardResolutionError, A2ACardResolver(http(), f'{URL}/a2a/nobody').get_agent_card())
    assert error.status_code == 404, error


@checks.on(*WIRES)
async def sends(wire):
    task = await answer(await client(wire, 'worker'), 'work')
    assert task.status.state == TaskState.TASK_STATE_COMPLETED, task
    assert words(task) == WHOLE and task.id and task.context_id, task


@checks.on(*WIRES)
async def is_answered_with_a_message(wire):
    for streaming in (False, True):
        found = await client(wire, 'echo', streaming=streaming)
        items = [item async for item in found.send_message(request('hello'))]
        assert [text_of(item.message) for item in items] == ['hello'], items
        assert items[0].message.role == Role.ROLE_AGENT and items[0].message.context_id, items


@checks.on(*WIRES)
async def streams(wire):
    found = await client(wire, 'worker', streaming=True)
    items = [item async for item in found.send_message(request('work'))]
    assert_worked(items)
    texts = [text_of(item.artifact_update.artifact) for item in items if item.HasField('artifact_update')]
    assert texts == [*PIECES, WHOLE], texts


@checks.on(*WIRES)
async def sends_and_gets_files_and_data(wire):
    file = Part(raw=b'\0\xff' * 500, filename='noise.bin', media_type='application/octet-stream')
    data = ParseDict({'data': {'list': [1, 'two', None, {'three': 3.5}]}}, Part())
    task = await answer(await client(wire, 'echo'), 'Look:', file, data)
    found = [part for artifact in task.artifacts for part in artifact.parts]
    assert [part.text for part in found if part.HasField('text')] == ['Look:'], task
    (back,) = [part for part in found if part.HasField('raw')]
    assert (back.raw, back.filename, back.media_type) == (file.raw, file.filename, file.media_type), back
    assert [part.data for part in found if part.HasField('data')] == [data.data], task


@checks.on(*WIRES)
async def sees_tools_at_work(wire):
    found = await client(wire, 'gate', streaming=True)
    items = [item async for item in found.send_message(request('tool'))]
    messages = [item.status_update.status.message for item in items if item.HasField('status_update')]
    events = [MessageToDict(part.data) for message in messages for part in message.parts if part.HasField('data')]
    assert [event['type'] for event in events] == ['tool-call', 'tool-result'], items
    assert events[1]['output'] == {'hits': 3}, events
    last = [item.artifact_update for item in items if item.HasField('artifact_update')][-1]
    assert text_of(last.artifact) == 'Let me look that up. There are three.', items


@checks.on(*WIRES)
async def learns_of_failures(wire):
    task = await answer(await client(wire, 'gate'), 'fail')
    assert task.status.state == TaskState.TASK_STATE_FAILED, task
    assert text_of(task.status.message), task


@checks.on(*WIRES)
async def gets_tasks(wire):
    found = await client(wire, 'worker')
    task = await answer(found, 'work')
    again = await found.get_task(GetTaskRequest(id=task.id))
    assert again.status == task.status and words(again) == WHOLE, again
    assert [text_of(message) for message in again.history][:1] == ['work'], again
    short = await found.get_task(GetTaskRequest(id=task.id, history_length=0))
    assert not short.history, short
    await raises(TaskNotFoundError, found.get_task(GetTaskRequest(id=str(uuid.uuid4()))))


@checks.on(*WIRES)
async def lists_tasks_of_a_conversation(wire):
    found = await client(wire, 'worker')
    first = await answer(found, 'work')
    second = await answer(found, 'work', context=first.context_id)
    assert second.context_id == first.context_id
    page = await found.list_tasks(ListTasksRequest(context_id=first.context_id, page_size=1))
    assert [task.id for task in page.tasks] == [second.id] and page.total_size == 2, page
    rest = ListTasksRequest(context_id=first.context_id, page_size=1, page_token=page.next_page_token)
    rest = await found.list_tasks(rest)
    assert [task.id for task in rest.tasks] == [first.id] and not rest.next_page_token, rest


@checks.on(*WIRES)
async def cancels(wire):
    found = await client(wire, 'worker', polling=True)
    task = await answer(found, 'wait')
    assert task.status.state in (TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING), task
    canceled = await found.cancel_task(CancelTaskRequest(id=task.id))
    assert canceled.status.state == TaskState.TASK_STATE_CANCELED, canceled
    await raises(TaskNotCancelableError, found.cancel_task(CancelTaskRequest(id=task.id)))
    await raises(TaskNotFoundError, found.cancel_task(CancelTaskRequest(id=str(uuid.uuid4()))))


@checks.on(*WIRES)
async def follows_a_task_again(wire):
    found = await client(wire, 'worker', polling=True)
    task = await answer(found, 'work')
    following = await client(wire, 'worker', streaming=True)
    items = [item async for item in following.subscribe(SubscribeToTaskRequest(id=task.id))]
    assert_worked(items)
    ended = following.subscribe(SubscribeToTaskRequest(id=task.id))
    await raises(UnsupportedOperationError, anext(ended))


@checks.on(*WIRES)
async def is_notified(wire):
    receiver = Receiver()
    config = TaskPushNotificationConfig(url=receiver.url('/told'), token='s3cret')
    found = await client(wire, 'worker', polling=True, push_notification_config=config)
    task = await answer(found, 'work')
    path, head, body = await receiver.post()
    assert path == '/told' and head['X-A2A-Notification-Token'] == 's3cret', head.items()
    assert head.get_content_type() == 'application/a2a+json', head.items()
    assert body['task']['id'] == task.id, body
    assert body['task']['status']['state'] == 'TASK_STATE_COMPLETED', body


@checks.on(*WIRES)
async def keeps_notification_settings(wire):
    receiver = Receiver()
    found = await client(wire, 'worker', polling=True)
    task = await answer(found, 'wait')
    config = TaskPushNotificationConfig(task_id=task.id, url=receiver.url('/one'), token='t')
    config.authentication.scheme, config.authentication.credentials = 'Bearer', 'abc'
    made = await found.create_task_push_notification_config(config)
    assert made.id and made.task_id == task.id and made.url == config.url, made
    named = dict(task_id=task.id, id=made.id)
    assert await found.get_task_push_notification_config(GetTaskPushNotificationConfigRequest(**named)) == made
    listed = ListTaskPushNotificationConfigsRequest(task_id=task.id)
    assert list((await found.list_task_push_notification_configs(listed)).configs) == [made]
    await found.cancel_task(CancelTaskRequest(id=task.id))
    path, head, body = await receiver.post()
    assert (path, head['Authorization']) == ('/one', 'Bearer abc'), head.items()
    assert body['task']['status']['state'] == 'TASK_STATE_CANCELED', body
    await found.delete_task_push_notification_config(DeleteTaskPushNotificationConfigRequest(**named))
    assert not (await found.list_task_push_notification_configs(listed)).configs


@checks.on(*WIRES)
async def is_refused(wire):
    found = await client(wire, 'gate')
    expected = {
        'pay': ('payment_required', TaskState.TASK_STATE_INPUT_REQUIRED),
        'login': ('unauthorized', TaskState.TASK_STATE_AUTH_REQUIRED),
        'forbid': ('forbidden', TaskState.TASK_STATE_REJECTED),
        'flood': ('too_many_requests', TaskState.TASK_STATE_FAILED),
    }
    for asked, (kind, state) in expected.items():
        task = await answer(found, asked)
        assert task.status.state == state, task
        part = policy(task.status)['part']
        assert part['kind'] == kind and part['message'] in text_of(task.status.message), task


@checks.on(*WIRES)
async def is_refused_in_a_stream(wire):
    found = await client(wire, 'gate', streaming=True)
    items = [item async for item in found.send_message(request('pay'))]
    status = items[-1].status_update.status
    assert status.state == TaskState.TASK_STATE_INPUT_REQUIRED, items
    assert policy(status)['part']['kind'] == 'payment_required', status
    assert MessageToDict(status.message.metadata)['x402.payment.status'] == 'payment-required', status


@checks.on(*WIRES)
async def goes_on_after_a_refusal(wire):
    found = await client(wire, 'gate')
    task = await answer(found, 'pay')
    again = await answer(found, 'paid', task=task.id, context=task.context_id)
    assert again.id == task.id and again.status.state == TaskState.TASK_STATE_COMPLETED, again
    assert 'Thank you' in words(again), again


@checks.on('jsonrpc', 'rest')
async def mentions_agents_on_the_hub(wire):
    found = await client(wire)
    items = [item async for item in found.send_message(request('forbid'))]
    assert text_of(items[0].message) == 'forbid', items
    refused = await answer(found, '@gate forbid')
    assert refused.status.state == TaskState.TASK_STATE_REJECTED, refused
    later = await answer(found, 'pay', context=refused.context_id)
    assert policy(later.status)['part']['kind'] == 'payment_required', later


@checks.on('identity')
async def extended_card_is_for_callers_that_are_known(_):
    for wire in ('jsonrpc', 'rest'):
        found = await client(wire, 'worker', headers=ALICE)
        card = await found.get_extended_agent_card(GetExtendedAgentCardRequest(), signature_verifier=verify)
        assert 'GRPC' in {face.protocol_binding for face in card.supported_interfaces}, card
        found = await client(wire, headers=ALICE)
        card = await found.get_extended_agent_card(GetExtendedAgentCardRequest(), signature_verifier=verify)
        assert {'worker/work', 'gate/refuse', 'echo/echo'} <= {skill.id for skill in card.skills}, card
        stranger = await client(wire)
        await raises(A2AClientError, stranger.get_extended_agent_card(GetExtendedAgentCardRequest()))


@checks.on('identity')
async def tasks_are_their_owner_s(_):
    for wire in ('jsonrpc', 'rest'):
        alice = await client(wire, 'worker', headers=ALICE)
        task = await answer(alice, 'work')
        assert task.id in {one.id for one in (await alice.list_tasks(ListTasksRequest())).tasks}
        stranger = await client(wire, 'worker')
        await raises(TaskNotFoundError, stranger.get_task(GetTaskRequest(id=task.id)))
        assert not (await stranger.list_tasks(ListTasksRequest())).tasks


@checks.on('identity')
async def rules_of_agents_know_the_caller(_):
    for wire in ('jsonrpc', 'rest'):
        known = await client(wire, 'vip', headers=ALICE)
        items = [item async for item in known.send_message(request('hello'))]
        assert [text_of(item.message) for item in items] == ['hello'], items
        task = await answer(await client(wire, 'vip'), 'hello')
        assert task.status.state == TaskState.TASK_STATE_AUTH_REQUIRED, task
        assert policy(task.status)['part']['kind'] == 'unauthorized', task


@checks.on('identity')
async def who_signs_in_goes_on_with_the_task(_):
    for wire in ('jsonrpc', 'rest'):
        asked = await answer(await client(wire, 'vip'), 'hello')
        assert asked.status.state == TaskState.TASK_STATE_AUTH_REQUIRED, asked
        known = await client(wire, 'vip', headers=ALICE)
        done = await answer(known, 'hello again', task=asked.id)
        assert (done.id, done.status.state) == (asked.id, TaskState.TASK_STATE_COMPLETED), done
        assert text_of(done.status.message) == 'hello again', done
        await raises(UnsupportedOperationError, answer(known, 'and again', task=asked.id))


@checks.on('identity')
async def who_agrees_goes_on_with_the_task(_):
    for wire in ('jsonrpc', 'rest'):
        found = await client(wire, 'terms')
        asked = await answer(found, 'hello')
        part = policy(asked.status)['part']
        assert asked.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, asked
        assert part['kind'] == 'consent_required' and part['url'].endswith(f'/consent/{part["state"]}'), part
        early = await answer(found, 'I am back', task=asked.id)
        assert early.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, early
        await agree(policy(early.status)['part']['state'])
        done = await answer(found, 'I agreed', task=asked.id)
        assert (done.id, done.status.state) == (asked.id, TaskState.TASK_STATE_COMPLETED), done
        assert text_of(done.status.message) == 'I agreed', done
        another = await answer(found, 'hello')
        assert another.status.state == TaskState.TASK_STATE_INPUT_REQUIRED, another


checks.run()
