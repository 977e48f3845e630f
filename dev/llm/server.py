"""llama.cpp's own server with the model of a file: `server.py MODEL`.

Prints the URL of its OpenAI-compatible API and serves until standard input closes, so that it never
outlives whoever started it.
"""

import sys

import xllamacpp

params = xllamacpp.CommonParams()
params.model.path = sys.argv[1]
params.model_alias = {"small"}
params.hostnames = ["127.0.0.1"]
params.port = 0
params.ui = False
params.verbosity = 0
# One answer at a time: a client that leaves has to free the server for the next one.
params.n_parallel = 1
params.n_ctx = 4096
# Tests run beside it.
params.n_gpu_layers = 0
params.cpuparams.n_threads = 1
params.cpuparams_batch.n_threads = 1

server = xllamacpp.Server(params)
print(f"{server.listening_address}/v1", flush=True)
sys.stdin.read()
