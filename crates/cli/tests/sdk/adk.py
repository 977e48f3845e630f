"""google-adk's RemoteA2aAgent, as an agent in a program of ADK, against a served deployment."""

import warnings

warnings.filterwarnings('ignore')

from google.adk.agents.remote_a2a_agent import RemoteA2aAgent
from google.adk.runners import InMemoryRunner
from google.genai.types import Content, Part

from common import PIECES, URL, WHOLE, Checks

FORMS = {'legacy': True, 'current': False}
checks = Checks()


class Conversation:
    """A session of ADK with the agent of a card."""

    def __init__(self, form, agent=None):
        base = f'{URL}/a2a/{agent}' if agent else URL
        card = f'{base}/.well-known/agent-card.json'
        remote = RemoteA2aAgent(name='remote', agent_card=card, use_legacy=FORMS[form])
        self._runner = InMemoryRunner(agent=remote, app_name='checks')
        self._session = None

    async def say(self, text):
        """The events that a turn comes to."""
        if not self._session:
            self._session = await self._runner.session_service.create_session(app_name='checks', user_id='someone')
        named = dict(user_id='someone', session_id=self._session.id)
        turn = Content(role='user', parts=[Part(text=text)])
        events = [event async for event in self._runner.run_async(**named, new_message=turn)]
        assert not any(event.error_message for event in events), events
        return events


def parts(event):
    return (event.content and event.content.parts) or []


def said(event):
    return ''.join(part.text or '' for part in parts(event))



def finally_said(events):
    """What a person sees in the end: the last whole event with words."""
    return [said(event) for event in events if said(event) and not event.partial][-1]


def state(event):
    return event.custom_metadata['a2a:response']['status']['state']


@checks.on(*FORMS)
async def says_what_it_is_told(form):
    events = await Conversation(form).say('hello')
    assert finally_said(events) == 'hello', events


@checks.on(*FORMS)
async def shows_the_whole_answer_once(form):
    events = await Conversation(form, 'worker').say('work')
    whole = [said(event) for event in events if said(event) and not event.partial]
    assert whole == [WHOLE], events
    streamed = [said(event) for event in events if event.partial]
    assert streamed == PIECES, events


@checks.on(*FORMS)
async def keeps_its_conversation(form):
    conversation = Conversation(form)
    assert finally_said(await conversation.say('forbid')) == 'forbid'
    rejected = (await conversation.say('@gate forbid'))[-1]
    assert said(rejected) == 'This is not for you.', rejected
    rejected = (await conversation.say('forbid'))[-1]
    assert said(rejected) == 'This is not for you.', rejected


@checks.on(*FORMS)
async def asks_the_user_for_what_is_required(form):
    conversation = Conversation(form, 'gate')
    asked = (await conversation.say('pay'))[-1]
    call = parts(asked)[-1].function_call
    assert call.args == {'input_required': 'Two coins.'}, asked
    paid = await conversation.say('paid')
    assert 'Thank you' in finally_said(paid), paid
    assert state(paid[-1]) == 'TASK_STATE_COMPLETED', paid


checks.run()
