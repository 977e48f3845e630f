"""The Python client of x402 pays an agent as it is."""

import asyncio
import base64
import json
import os
import sys

import common

common.localhost_is_here()

import httpx  # noqa: E402
from eth_account import Account  # noqa: E402
from x402 import x402Client  # noqa: E402
from x402.http.clients import x402HttpxClient  # noqa: E402
from x402.mechanisms.evm.exact.register import register_exact_evm_client  # noqa: E402
from x402.mechanisms.evm.signers import EthAccountSigner  # noqa: E402

PRICE = 50_000
PAID = f'{common.URL}/~paid'
FORM = {'user': (None, 'hello')}


async def balance():
    async with httpx.AsyncClient() as client:
        answer = await client.get(f'{os.environ["FORECOURT_FACILITATOR"]}/balance/{os.environ["FORECOURT_PAID"]}')
        return int(answer.json()['balance'])


async def check():
    x402 = x402Client()
    register_exact_evm_client(x402, EthAccountSigner(Account.from_key(os.environ['FORECOURT_WALLET_KEY'])))
    before = await balance()
    headers = {'Accept': 'application/json'}
    async with x402HttpxClient(x402, timeout=common.PATIENCE, headers=headers) as client:
        answer = await client.post(PAID, files=FORM)
        assert answer.status_code == 200, (answer.status_code, answer.text)
        assert 'hello' in answer.text, answer.text
        assert await balance() == before + PRICE
        print('ok: a payment is taken once, and answered')
        receipt = json.loads(base64.b64decode(answer.headers['PAYMENT-RESPONSE']))
        assert receipt['success'] is True and receipt['transaction'].startswith('0x'), receipt
        print('ok: the receipt names the transaction')


asyncio.run(check())
sys.exit(0)
