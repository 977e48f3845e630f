"""a2a-sdk 0.3.x, as its users use it, against a served deployment."""

import base64
import copy
import uuid

import httpx
from a2a.client import A2ACardResolver, ClientConfig, ClientFactory
from a2a.client.errors import A2AClientHTTPError, A2AClientJSONRPCError
from a2a.types import (
    DataPart,
    FilePart,
    FileWithBytes,
    GetTaskPushNotificationConfigParams,
    Message,
    Part,
    PushNotificationAuthenticationInfo,
    PushNotificationConfig,
    Role,
    Task,
    TaskArtifactUpdateEvent,
    TaskIdParams,
    TaskPushNotificationConfig,
    TaskQueryParams,
    TaskState,
    TaskStatusUpdateEvent,
    TextPart,
)
from a2a.utils.signing import InvalidSignaturesError, create_signature_verifier
from grpc import StatusCode
from grpc.aio import AioRpcError
from jwt import PyJWK

from common import ALICE, CA, PATIENCE, PIECES, URL, WHOLE, Checks, Receiver, public_key, raises

TRANSPORTS = {'jsonrpc': 'JSONRPC', 'rest': 'HTTP+JSON', 'grpc': 'GRPC'}
WIRES = tuple(TRANSPORTS)
# What each wire says of a task that is not there, and of one that can't be canceled any more.
NOT_FOUND = {'jsonrpc': -32001, 'rest': 404, 'grpc': StatusCode.NOT_FOUND}
NOT_CANCELABLE = {'jsonrpc': -32002, 'rest': 400, 'grpc': StatusCode.FAILED_PRECONDITION}
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


async def as_it_comes(events):
    """The events as they come: the SDK goes on writing into those that it has shown."""
    async for event in events:
        yield copy.deepcopy(event)


class Client:
    """A client of one agent, and how that agent is named on its wire: over gRPC 0.3 knows the hub
    alone, so there a message mentions its agent."""

    def __init__(self, wire, found, mention):
        self.wire, self.sdk, self._mention = wire, found, mention

    async def send(self, text, *more, task=None, context=None):
        """The events that a message comes to."""
        message = Message(
            role=Role.user,
            message_id=str(uuid.uuid4()),
            parts=[Part(root=TextPart(text=text if task else self._mention + text)), *map(Part, more)],
            task_id=task,
            context_id=context,
        )
        return [event async for event in as_it_comes(self.sdk.send_message(message))]

    async def answer(self, text, *more, **named):
        """The task that a message comes to."""
        events = await self.send(text, *more, **named)
        assert len(events) == 1, events
        return events[0][0]


async def client(wire, agent=None, *, streaming=False, headers=None, **config):
    own = http(**headers or {})
    mention = ''
    base = f'{URL}/a2a/{agent}' if agent and wire != 'grpc' else URL
    card = await A2ACardResolver(own, base).get_agent_card()
    if wire == 'grpc':
        card.url, card.preferred_transport, card.additional_interfaces = URL.split('//')[1], 'GRPC', None
        mention = f'@{agent} ' if agent else ''
    settings = ClientConfig(
        httpx_client=own,
        streaming=streaming,
        grpc_channel_factory=channel,
        supported_transports=[TRANSPORTS[wire]],
        **config,
    )
    return Client(wire, ClientFactory(settings).create(card), mention)


async def refused(wire, expected, awaited):
    """Awaits what must fail as this wire says that."""
    error = await raises((A2AClientJSONRPCError, A2AClientHTTPError, AioRpcError), awaited)
    codes = {'jsonrpc': lambda: error.error.code, 'rest': lambda: error.status_code, 'grpc': lambda: error.code()}
    assert codes[wire]() == expected[wire], error


def text_of(holder):
    return ''.join(part.root.text for part in holder.parts)


def words(task):
    return ''.join(text_of(artifact) for artifact in task.artifacts or [])


def policy(status):
    return status.message.metadata['mentionable']['policy']


def assert_worked(events):
    """A stream of @worker at work, begun anywhere in it, as the SDK shows it."""
    assert events[0][1] is None and isinstance(events[0][0], Task), events
    updates = [update for _, update in events if isinstance(update, TaskArtifactUpdateEvent)]
    assert text_of(updates[-1].artifact) == WHOLE, updates
    assert updates[-1].last_chunk and not updates[-1].append, updates
    task, update = events[-1]
    assert update.final and update.status.state == TaskState.completed, update
    # The SDK has put the pieces together by itself.
    assert words(task) == WHOLE, task


@checks.on('discovery')
async def card_is_at_the_well_known_path(_):
    card = await A2ACardResolver(http(), URL).get_agent_card()
    assert card.name == 'Demo' and card.protocol_version == '0.3.0'
    assert card.capabilities.streaming and card.capabilities.push_notifications
    assert card.preferred_transport == 'JSONRPC' and card.url.startswith(f'{URL}/')
    assert {face.transport for face in card.additional_interfaces} == {'JSONRPC', 'HTTP+JSON'}


verify = create_signature_verifier(lambda kid, jku: PyJWK(public_key(jku, kid)), ['EdDSA', 'ES256'])


@checks.on('discovery', 'identity')
async def signatures_of_all_cards_hold(_):
    for base in (URL, f'{URL}/a2a/worker'):
        card = await A2ACardResolver(http(), base).get_agent_card(signature_verifier=verify)
        try:
            verify(card.model_copy(update={'name': 'Another'}))
        except InvalidSignaturesError:
            continue
        raise AssertionError('a changed card was believed')


@checks.on('discovery')
async def factory_connects_by_address_alone(_):
    found = await ClientFactory.connect(URL, ClientConfig(httpx_client=http(), streaming=False))
    events = await Client('jsonrpc', found, '').send('hello')
    assert [text_of(message) for message in events] == ['hello'], events


@checks.on(*WIRES)
async def sends(wire):
    task = await (await client(wire, 'worker')).answer('work')
    assert task.status.state == TaskState.completed, task
    assert words(task) == WHOLE and task.id and task.context_id, task


@checks.on(*WIRES)
async def is_answered_with_a_message(wire):
    for streaming in (False, True):
        events = await (await client(wire, 'echo', streaming=streaming)).send('hello')
        assert [text_of(message).removeprefix('@echo ') for message in events] == ['hello'], events
        assert events[0].role == Role.agent and events[0].context_id, events


@checks.on(*WIRES)
async def streams(wire):
    events = await (await client(wire, 'worker', streaming=True)).send('work')
    assert_worked(events)
    updates = [update for _, update in events if isinstance(update, TaskArtifactUpdateEvent)]
    assert [text_of(update.artifact) for update in updates] == [*PIECES, WHOLE], updates


@checks.on(*WIRES)
async def sends_and_gets_files_and_data(wire):
    noise = base64.b64encode(b'\0\xff' * 500).decode()
    file = FileWithBytes(bytes=noise, name='noise.bin', mime_type='application/octet-stream')
    data = {'list': [1, 'two', None, {'three': 3.5}]}
    task = await (await client(wire, 'echo')).answer('Look:', FilePart(file=file), DataPart(data=data))
    found = [part.root for artifact in task.artifacts for part in artifact.parts]
    assert [part.text.removeprefix('@echo ') for part in found if part.kind == 'text'] == ['Look:'], task
    (back,) = [part.file for part in found if part.kind == 'file']
    assert (back.bytes, back.mime_type) == (file.bytes, file.mime_type), back
    # An echo would hide that a wire has them in another form than the agent.
    plain = await (await client('jsonrpc')).sdk.get_task(TaskQueryParams(id=task.id))
    kept = [part.root.file.bytes for artifact in plain.artifacts for part in artifact.parts if part.root.kind == 'file']
    assert kept == [file.bytes], kept
    assert [part.data for part in found if part.kind == 'data'] == [data], task


@checks.on(*WIRES)
async def sees_tools_at_work(wire):
    events = await (await client(wire, 'gate', streaming=True)).send('tool')
    messages = [update.status.message for _, update in events if isinstance(update, TaskStatusUpdateEvent)]
    parts = [part.root for message in messages if message for part in message.parts]
    tools = [part.data for part in parts if part.kind == 'data']
    assert [tool['type'] for tool in tools] == ['tool-call', 'tool-result'], events
    assert tools[1]['output'] == {'hits': 3}, tools
    assert words(events[-1][0]) == 'Let me look that up. There are three.', events


@checks.on(*WIRES)
async def learns_of_failures(wire):
    task = await (await client(wire, 'gate')).answer('fail')
    assert task.status.state == TaskState.failed, task
    assert text_of(task.status.message), task


@checks.on(*WIRES)
async def gets_tasks(wire):
    found = await client(wire, 'worker')
    task = await found.answer('work')
    again = await found.sdk.get_task(TaskQueryParams(id=task.id))
    assert again.status == task.status and words(again) == WHOLE, again
    assert text_of(again.history[0]).endswith('work'), again
    await refused(wire, NOT_FOUND, found.sdk.get_task(TaskQueryParams(id=str(uuid.uuid4()))))


@checks.on(*WIRES)
async def cancels(wire):
    found = await client(wire, 'worker', polling=True)
    task = await found.answer('wait')
    assert task.status.state in (TaskState.submitted, TaskState.working), task
    canceled = await found.sdk.cancel_task(TaskIdParams(id=task.id))
    assert canceled.status.state == TaskState.canceled, canceled
    await refused(wire, NOT_CANCELABLE, found.sdk.cancel_task(TaskIdParams(id=task.id)))
    await refused(wire, NOT_FOUND, found.sdk.cancel_task(TaskIdParams(id=str(uuid.uuid4()))))


@checks.on(*WIRES)
async def follows_a_task_again(wire):
    task = await (await client(wire, 'worker', polling=True)).answer('work')
    following = await client(wire, 'worker', streaming=True)
    events = as_it_comes(following.sdk.resubscribe(TaskIdParams(id=task.id)))
    assert_worked([event async for event in events])


@checks.on(*WIRES)
async def is_notified(wire):
    receiver = Receiver()
    config = PushNotificationConfig(url=receiver.url('/told'), token='s3cret')
    found = await client(wire, 'worker', polling=True, push_notification_configs=[config])
    task = await found.answer('work')
    path, head, body = await receiver.post()
    assert path == '/told' and head['X-A2A-Notification-Token'] == 's3cret', head.items()
    assert head.get_content_type() == 'application/json', head.items()
    told = Task.model_validate(body)
    assert told.id == task.id and told.status.state == TaskState.completed, body


@checks.on(*WIRES)
async def keeps_notification_settings(wire):
    receiver = Receiver()
    found = await client(wire, 'worker', polling=True)
    task = await found.answer('wait')
    authentication = PushNotificationAuthenticationInfo(schemes=['Bearer'], credentials='abc')
    config = PushNotificationConfig(id='one', url=receiver.url('/one'), token='t', authentication=authentication)
    wanted = TaskPushNotificationConfig(task_id=task.id, push_notification_config=config)


    def shown(answer):
        # Secrets are written, and never read: some bindings leave them out, others leave them empty.
        own = answer.push_notification_config
        assert not own.token and not own.authentication.credentials, answer
        return answer.task_id, own.id, own.url, own.authentication.schemes

    settings = (task.id, 'one', config.url, ['Bearer'])
    assert shown(await found.sdk.set_task_callback(wanted)) == settings
    named = GetTaskPushNotificationConfigParams(id=task.id, push_notification_config_id='one')
    assert shown(await found.sdk.get_task_callback(named)) == settings
    await found.sdk.cancel_task(TaskIdParams(id=task.id))
    path, head, body = await receiver.post()
    assert (path, head['Authorization']) == ('/one', 'Bearer abc'), head.items()
    assert Task.model_validate(body).status.state == TaskState.canceled, body


@checks.on(*WIRES)
async def is_refused(wire):
    found = await client(wire, 'gate')
    expected = {
        'pay': ('payment_required', TaskState.input_required),
        'login': ('unauthorized', TaskState.auth_required),
        'forbid': ('forbidden', TaskState.rejected),
        'flood': ('too_many_requests', TaskState.failed),
    }
    for asked, (kind, state) in expected.items():
        task = await found.answer(asked)
        assert task.status.state == state, task
        part = policy(task.status)['part']
        assert part['kind'] == kind and part['message'] in text_of(task.status.message), task


@checks.on(*WIRES)
async def is_refused_in_a_stream(wire):
    events = await (await client(wire, 'gate', streaming=True)).send('pay')
    _, update = events[-1]
    assert update.final and update.status.state == TaskState.input_required, events
    assert policy(update.status)['part']['kind'] == 'payment_required', update
    assert update.status.message.metadata['x402.payment.status'] == 'payment-required', update


@checks.on(*WIRES)
async def goes_on_after_a_refusal(wire):
    found = await client(wire, 'gate')
    task = await found.answer('pay')
    again = await found.answer('paid', task=task.id, context=task.context_id)
    assert again.id == task.id and again.status.state == TaskState.completed, again
    assert 'Thank you' in words(again), again


@checks.on('jsonrpc', 'rest')
async def mentions_agents_on_the_hub(wire):
    found = await client(wire)
    assert [text_of(message) for message in await found.send('forbid')] == ['forbid']
    rejected = await found.answer('@gate forbid')
    assert rejected.status.state == TaskState.rejected, rejected
    later = await found.answer('pay', context=rejected.context_id)
    assert policy(later.status)['part']['kind'] == 'payment_required', later


@checks.on('identity')
async def extended_card_is_for_callers_that_are_known(_):
    for wire in ('jsonrpc', 'rest'):
        known = await client(wire, headers=ALICE)
        card = await known.sdk.get_card(signature_verifier=verify)
        assert {'worker/work', 'gate/refuse', 'echo/echo'} <= {skill.id for skill in card.skills}, card
        stranger = await client(wire)
        await raises((A2AClientJSONRPCError, A2AClientHTTPError), stranger.sdk.get_card())


@checks.on('identity')
async def tasks_are_their_owner_s(_):
    for wire in ('jsonrpc', 'rest'):
        task = await (await client(wire, 'worker', headers=ALICE)).answer('work')
        stranger = await client(wire, 'worker')
        await refused(wire, NOT_FOUND, stranger.sdk.get_task(TaskQueryParams(id=task.id)))


@checks.on('identity')
async def rules_of_agents_know_the_caller(_):
    for wire in ('jsonrpc', 'rest'):
        events = await (await client(wire, 'vip', headers=ALICE)).send('hello')
        assert [text_of(message) for message in events] == ['hello'], events
        task = await (await client(wire, 'vip')).answer('hello')
        assert task.status.state == TaskState.auth_required, task
        assert policy(task.status)['part']['kind'] == 'unauthorized', task


checks.run()
