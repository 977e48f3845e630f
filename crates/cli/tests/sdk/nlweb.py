"""A client of NLWeb 0.55 that knows the specification and nothing else: the standard library, plain HTTP,
event streams, promises. It is what a stranger would write on an afternoon, run against a served deployment.

The environment says where that is: FORECOURT_URL, an address of this machine.
"""

import http.client
import json
import os
import sys
import time
import traceback
from urllib.parse import urlencode, urlsplit

BASE = urlsplit(os.environ['FORECOURT_URL'])
# Far above what anything here takes, so that a busy machine fails no check.
PATIENCE = 60.0


class Client:
    """Appendix B: requests and responses of POST /ask and POST /await."""

    def __init__(self, agent=None):
        self.root = f'/~{agent}' if agent else ''
        self.session = {}

    def _open(self, method, path, body=None, accept='application/json', raw=None):
        connection = http.client.HTTPConnection('127.0.0.1', BASE.port, timeout=PATIENCE)
        head = {'Host': BASE.netloc, 'Accept': accept}
        if body is not None or raw is not None:
            head['Content-Type'] = 'application/json'
        data = raw if raw is not None else json.dumps(body) if body is not None else None
        connection.request(method, self.root + path, data, head)
        return connection.getresponse()

    def _whole(self, response):
        body = json.loads(response.read())
        meta = body['_meta']
        assert meta['version'] == '0.55', meta
        assert meta['response_type'] in ('answer', 'elicitation', 'promise', 'failure'), meta
        # 4: what is given as the session is sent along next time.
        self.session = meta.get('session_context', self.session)
        return response.status, body

    def request(self, query, context=None, prefer=None, meta=None):
        query = {'text': query} if isinstance(query, str) else query
        meta = {'version': '0.55', **({'session_context': self.session} if self.session else {}), **(meta or {})}
        parts = {'query': query, 'context': context, 'prefer': prefer, 'meta': meta}
        return {name: part for name, part in parts.items() if part is not None}

    def ask(self, query, **more):
        return self._whole(self._open('POST', '/ask', self.request(query, **more)))

    def send(self, raw, path='/ask'):
        return self._whole(self._open('POST', path, raw=raw))

    def stream(self, query, prefer=None, **more):
        """6: the events of a stream, each with its name and its data, as they come."""
        request = self.request(query, prefer={'streaming': True, **(prefer or {})}, **more)
        response = self._open('POST', '/ask', request, accept='text/event-stream')
        assert response.status == 200 and response.getheader('Content-Type') == 'text/event-stream', response.status
        name, data = None, []
        for line in response:
            line = line.decode().rstrip('\n')
            if line.startswith(':'):
                continue
            if line.startswith('event:'):
                name = line[6:].strip()
            elif line.startswith('data:'):
                data.append(line[5:].removeprefix(' '))
            elif not line and data:
                value = json.loads('\n'.join(data))
                if name == 'complete':
                    self.session = value['_meta'].get('session_context', self.session)
                yield name, value
                name, data = None, []

    def wait(self, token, action='checkin'):
        return self._whole(self._open('POST', '/await', {'promise_token': token, 'action': action}))

    def kept(self, token):
        """4.2: checks in until the promise is kept, and what it told on the way."""
        told, deadline = [], time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            status, body = self.wait(token)
            if body['_meta']['response_type'] != 'promise':
                return told, status, body
            assert status == 202, status
            told.append(body['promise'])
            time.sleep(0.2)
        raise AssertionError('the promise was never kept')


def kind(body):
    return body['_meta']['response_type']


def code(body):
    assert kind(body) == 'failure', body
    assert body['error']['message'], body
    return body['error']['code']


def names(body):
    return [item['name'] for item in body['results'] if 'name' in item]


def answer(client, query, **more):
    status, body = client.ask(query, **more)
    assert status == 200 and kind(body) == 'answer', (status, body)
    return body


# 3.1


def s3_1_items_answer_a_question():
    body = answer(Client(), 'soup under 30 minutes')
    assert body['_meta']['response_format'] == 'conversational_search', body['_meta']
    for item in body['results']:
        assert item['@type'] == 'Recipe' and item['name'] and item['grounding']['source_urls'], item
    assert '30 minutes or less' in body['_meta']['forecourt/applied_limits'], body['_meta']


def s3_1_filters_hold_or_are_named():
    query = {'text': 'soup', 'itemType': 'Recipe', 'totalTime': 'less than 20 minutes', 'price': 'less than $20'}
    body = answer(Client(), query)
    assert all('PT' in item['totalTime'] for item in body['results']), body
    assert body['_meta']['forecourt/ignored_filters'] == ['price'], body['_meta']
    either = answer(Client(), {'text': 'dinner', 'recipeCategory': ['Soup', 'Stew']})
    assert all(item['recipeCategory'] in ('Soup', 'Stew') for item in either['results']), either


def s3_1_a_site_is_a_part_of_what_is_here():
    everything = answer(Client(), {'text': 'soup', 'site': 'all'})
    assert len({item.get('@type') for item in everything['results']}) >= 1
    wiki = answer(Client(), {'text': 'soup', 'site': 'en.wikibooks.org'})
    assert all(item['url'].startswith('https://en.wikibooks.org/') for item in wiki['results'])
    _, unknown = Client().ask({'text': 'soup', 'site': 'pumpkins-r-us.com'})
    assert code(unknown) == 'INVALID_QUERY' and 'chef' in unknown['error']['message'], unknown


# 3.2


def s3_2_context_is_understood():
    prev = answer(Client(), 'only vegetarian ones', context={'prev': ['soup']})
    assert any('vegetarian' in limit for limit in prev['_meta']['forecourt/applied_limits']), prev['_meta']
    memory = answer(Client(), 'curry', context={'memory': 'vegetarian, no nuts'})
    assert {'no nuts'} < set(memory['_meta']['forecourt/applied_limits']), memory['_meta']
    diet = {'@type': 'UserDiet', '@context': 'https://example.com/schemas/diet', 'allergies': ['peanuts']}
    assert 'no peanuts' in answer(Client(), 'curry', context=diet)['_meta']['forecourt/applied_limits']


def s3_2_a_context_of_another_type_reaches_the_agent_as_it_is():
    diet = {'@type': 'UserDiet', '@context': 'https://example.com/schemas/diet', 'restrictions': ['vegan'], 'x': {'y': 1}}
    items = answer(Client('asker'), 'hello', context=diet)['results']
    assert any(item.get('context') == diet for item in items), items


# 3.3


def s3_3_modes_and_formats():
    summed = answer(Client(), 'soup', prefer={'mode': 'list, summarize', 'accept-language': 'en'})
    assert [item['@type'] for item in summed['results']].count('SearchSummary') == 1, summed
    app = answer(Client(), 'soup', prefer={'response_format': 'chatgpt_app'})
    assert app['content'][0]['type'] == 'text' and app['structuredData'][0]['@type'] == 'Recipe', app
    either = answer(Client(), 'soup', prefer={'response_format': 'xml, chatgpt_app'})
    assert either['_meta']['response_format'] == 'chatgpt_app', either['_meta']
    assert code(Client().ask('soup', prefer={'response_format': 'xml'})[1]) == 'UNSUPPORTED_FORMAT'
    assert code(Client().ask('soup', prefer={'mode': 'poem'})[1]) == 'UNSUPPORTED_MODE'


# 3.4


def s3_4_a_session_goes_on():
    client = Client()
    query = {'text': 'chickpeas', 'recipeIngredient': 'chickpeas', 'num_results': 2}
    first = answer(client, query, meta={'user': {'@type': 'Person'}})
    more = answer(client, 'more')
    assert len(names(first)) == 2, first
    assert not set(names(first)) & set(names(more)), (names(first), names(more))
    assert 'recipeIngredient: chickpeas' in more['_meta']['forecourt/applied_limits'], more['_meta']
    client.session['mine'] = [1, {'a': None}]
    answer(client, 'bread')
    assert client.session['mine'] == [1, {'a': None}], client.session


# 4


def s4_1_2_a_promise_is_kept():
    client = Client('worker')
    status, body = client.ask('work')
    assert status == 202 and kind(body) == 'promise', (status, body)
    told, status, body = client.kept(body['promise']['token'])
    assert status == 200 and body['results'][0]['text'] == 'One, two, three.', body
    # Progress only grows, within its bounds, and an estimate is a number of seconds.
    fractions = [promise['progress'] for promise in told if 'progress' in promise]
    assert fractions == sorted(fractions) and all(0 <= fraction <= 1 for fraction in fractions), fractions
    assert all(isinstance(promise['estimated_time'], int) for promise in told), told
    assert told[0].get('message') == 'counting', told


def s4_1_2_a_promise_is_cancelled():
    client = Client('worker')
    _, body = client.ask('wait')
    token = body['promise']['token']
    for action in ('cancel', 'checkin'):
        status, body = client.wait(token, action)
        assert status == 200 and code(body) == 'CANCELLED', (status, body)
    for token in ('promise_xyz', token[::-1]):
        assert code(client.wait(token)[1]) == 'NOT_FOUND'


def s4_1_3_questions_are_asked_and_answered():
    client = Client('asker')
    _, body = client.ask('pasta recipe')
    assert kind(body) == 'elicitation', body
    questions = {question['id']: question for question in body['elicitation']['questions']}
    chosen = {'text': 'as I say'}
    for question in questions.values():
        chosen[question['id']] = {
            'single_select': lambda q: q['options'][0],
            'multi_select': lambda q: q['options'][:2],
            'free_text': lambda q: 'anything',
            'number': lambda q: 4,
            'boolean': lambda q: True,
        }[question['type']](question)
    assert len(questions) == 5 and questions['people']['default'] == 2, questions
    # An agent that repeats what it is told shows that every answer came as it was given.
    given = next(item['filters'] for item in answer(client, chosen)['results'] if 'filters' in item)
    assert given == {key: value for key, value in chosen.items() if key != 'text'}, given


def s4_1_4_failures_say_what_to_do():
    client = Client()
    assert code(client.ask('zzxqqq')[1]) == 'NO_RESULTS'
    for raw in ('', '{', '[]', '{"query": {}}', '{"query": {"text": 3}}', '{"query": "soup"}', '[' * 5000):
        status, body = client.send(raw)
        assert status == 400 and code(body) == 'INVALID_QUERY', (raw, status)
    status, body = client.ask('soup', context={'memory': 'a' * 200_000})
    assert status == 200 and code(body) == 'TOKEN_LIMIT', (status, body)
    status, body = client.send('{"promise_token": "x", "action": "resume"}', '/await')
    assert status == 400 and 'checkin' in body['error']['message'], body


# 6


def s6_a_stream_comes_in_pieces():
    client = Client()
    query = {'text': 'chickpeas', 'max_results': 3}
    events = list(client.stream(query, prefer={'mode': 'list, summarize'}))
    kinds = [name for name, _ in events]
    assert kinds[0] == 'start' and kinds[-1] == 'complete' and set(kinds[1:-1]) == {'result'}, kinds
    start, complete = events[0][1]['_meta'], events[-1][1]['_meta']
    assert start['streaming'] is True and start['response_type'] == 'answer' == complete['response_type'], start
    results = sorted((data['index'], data['item']) for name, data in events if name == 'result')
    assert [index for index, _ in results] == list(range(len(results))), results
    whole = answer(Client(), query, prefer={'mode': 'list, summarize'})
    assert [item for _, item in results] == whole['results']
    assert client.session, 'the state of the session comes with the end'
    assert names(answer(client, 'more')), 'and goes on from there'


def s6_a_stream_that_fails_says_so():
    events = list(Client().stream('zzxqqq'))
    assert [name for name, _ in events] == ['start', 'error', 'complete'], events
    assert events[1][1]['error']['code'] == 'NO_RESULTS', events
    assert kind(events[2][1]) == 'failure', events


def s6_items_come_while_others_are_made():
    begun = time.monotonic()
    arrived = [(time.monotonic() - begun, name) for name, _ in Client('slowly').stream('two')]
    first = next(at for at, name in arrived if name == 'result')
    assert arrived[-1][0] - first > 0.8, arrived


# 7


def s7_the_older_form_is_answered_in_its_own():
    query = urlencode({'query': 'soup', 'streaming': 'false', 'num_results': 2})
    body = json.loads(Client()._open('GET', f'/ask?{query}').read())
    assert (body['_meta']['response_type'], body['_meta']['version']) == ('Answer', '0.54'), body['_meta']
    assert len(body['results']) == 2 and all(isinstance(item['score'], (int, float)) for item in body['results'])
    frames = Client()._open('GET', '/ask?query=soup', accept='*/*').read().decode()
    assert 'event:' not in frames, frames[:200]


def main():
    failed = 0
    for name, check in list(globals().items()):
        if name[:1] != 's' or not name[1:2].isdigit():
            continue
        try:
            check()
            print(f'ok {name}', flush=True)
        except Exception as error:
            failed += 1
            print(f'not ok {name}: {error!r}', flush=True)
            print(''.join(traceback.format_tb(error.__traceback__)[-2:]), flush=True)
    sys.exit(1 if failed else 0)


main()
