"""A chain of this machine and a facilitator, as the tests start them (`chain.mjs`), and daemons that are paid there."""

import json
import os
import pathlib
import subprocess
import sys

from node import Node, call

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIBRARIES = ROOT / ".cache/sdk"
SCRIPT = ROOT / "crates/cli/tests/sdk/x402/chain.mjs"
# Of the token: `mint(address,uint256)`, and the hashes of what it logs.
MINT = "0x40c10f19"
AUTHORIZATION_USED = "0x98de503528ee59b575ef0c0a2576a82497bfc029a5685b209e9ec333479b10a5"
TRANSFER = "0xddf252ad1be2c89b69c2b068fc378daa952ba7f163c4a11628f55a4df523b3ef"
# Blocks whose logs are read in one go.
BLOCKS_READ = 500
# What payers are given, in the token's units: more than an hour costs.
SUPPLY = 10**12
JSON = {"Content-Type": "application/json"}

PAYMENTS = """
[payments]
facilitator = "{facilitator}"
pay_to = "{paid}"
[payments.networks.base-sepolia]
rpc = "{rpc}"
"""
PAID = """
handle = "{handle}"
name = "{handle}"
{backend}
[[policy.rules]]
kind = "require_payment"
charge = "{handle}"
price = "0.{price:06} USDC"
message = "An answer costs something."
offers = [{{ x402 = {{ network = "base-sepolia" }} }}]
"""
# Paid agents are called what `charge` of their rule says.
HANDLES = ["after", "before"]


def is_there():
    """Whether `dev/sdk/setup` has brought what a chain needs."""
    return all((LIBRARIES / name / "asked").exists() for name in ("x402-js", "chain"))


class Chain:
    def __init__(self, place):
        environment = {"FORECOURT_X402": str(LIBRARIES / "x402-js"), "FORECOURT_CHAIN": str(LIBRARIES / "chain")}
        # What the chain leaves behind goes with the folder.
        environment |= {"FORECOURT_CHAIN_LOG": "yes", "TMPDIR": str(place.folder)}
        log = open(place.folder / "chain.log", "ab")
        process = subprocess.Popen(
            ["node", str(SCRIPT)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log,
            env={**os.environ, **environment},
        )
        place.processes.append(process)
        line = process.stdout.readline()
        if not line:
            sys.exit(f"the chain does not start; see {place.folder}/chain.log")
        self.facts = json.loads(line)
        self.port, self.rpc_port = (int(self.facts[name].rsplit(":", 1)[1]) for name in ("facilitator", "rpc"))
        operator = self.rpc("eth_accounts", [])[0]
        data = MINT + self.facts["payer"][2:].lower().rjust(64, "0") + f"{SUPPLY:064x}"
        self.rpc("eth_sendTransaction", [{"from": operator, "to": self.facts["token"], "data": data, "gas": "0x30d40"}])

    def rpc(self, method, parameters):
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": parameters})
        said = json.loads(call(self.rpc_port, "POST", "/", body, JSON)[2])
        if "error" in said:
            raise OSError(f"{method}: {said['error']}")
        return said["result"]

    def say(self, path, body=None):
        """What the facilitator says. OSError while it is down."""
        text = json.dumps(body) if body is not None else None
        return json.loads(call(self.port, "POST" if text else "GET", path, text, JSON)[2])

    def fault(self, **words):
        self.say("/fault", words)

    def asked(self, verb):
        return self.say("/asked")[verb]

    def sign(self, typed):
        words = {"method": "eth_signTypedData_v4", "params": [self.facts["payer"], json.dumps(typed)]}
        return self.say("/wallet", words)["result"]

    def balance(self):
        """What was paid, in the token's units."""
        return int(self.say(f"/balance/{self.facts['paid']}")["balance"])

    def moved(self):
        """What was paid by the nonce of its authorization: units and transaction."""
        nonces, paid = {}, {}
        latest = int(self.rpc("eth_blockNumber", []), 16)
        for block in range(0, latest + 1, BLOCKS_READ):
            span = {"fromBlock": hex(block), "toBlock": hex(min(latest, block + BLOCKS_READ - 1))}
            for log in self.rpc("eth_getLogs", [{**span, "address": self.facts["token"]}]):
                topics, transaction = log["topics"], log["transactionHash"]
                if topics[0] == AUTHORIZATION_USED:
                    nonces[transaction] = topics[2]
                elif topics[0] == TRANSFER and topics[2][-40:] == self.facts["paid"][2:].lower():
                    paid[transaction] = int(log["data"], 16)
        return {nonces[transaction]: (units, transaction) for transaction, units in paid.items()}


class PaidNode(Node):
    """A daemon with an agent that is paid once its answer is complete, and one that is paid before."""

    def __init__(self, chain, limits, *rest):
        super().__init__(*rest)
        self.top = self.top.replace("[limits]", f"[limits]\n{limits}") + PAYMENTS.format(**chain.facts)
        self.write("forecourt.toml", self.top)

    def ask_price(self, units):
        for handle in HANDLES:
            self.write(f"agents/{handle}.toml", PAID.format(handle=handle, backend=self.backend, price=units))

    def run(self, *words):
        """What a command says of this deployment. OSError where it fails."""
        data = ["--data", str(self.data)] if self.data else []
        ran = subprocess.run(
            [str(self.program), *words, *data], capture_output=True, text=True, env={**os.environ, **self.environment}
        )
        if ran.returncode:
            raise OSError(f"{' '.join(words)}: {ran.stdout}{ran.stderr}")
        return ran.stdout
