"""Runs functions of a deployment, one call at a time, for the program that started it.

Requests and answers are lines of JSON, an answer's behind the number of its request. They go over the pipes that this process was started with,
which are taken away from standard input and output before any function is imported: what a function
reads is empty, and what it prints goes to standard error, which is a log.
"""

import faulthandler
import importlib
import json
import os
import resource
import select
import signal
import sys
import threading
import traceback
import types

FOLDER = os.getcwd()
TEXT_CHARS_MAX = 1000


class EndpointError(Exception):
    """Ends a call in one of the errors that its endpoint declares."""

    def __init__(self, code, message, details=None):
        super().__init__(code, message)
        self.code = code
        self.message = message
        self.details = details


class Context:
    """What a function is called with."""

    __slots__ = ("input", "agent_id", "method", "path", "session_id", "task_id")

    def __init__(self, request):
        for name in self.__slots__:
            setattr(self, name, request.get(name))


class Fault(Exception):
    """What is wrong with a function, for the operator."""


def serve(requests, answers, answer_bytes_max):
    while True:
        line = requests.readline()
        if not line:
            return
        request = json.loads(line)
        begin(request)
        answer = encoded(perform(request), answer_bytes_max)
        faulthandler.cancel_dump_traceback_later()
        flush()
        answers.write(b"%d %s\n" % (request["number"], answer))
        answers.flush()


def begin(request):
    """Says that the output of another call follows; one that outlives its time says where it is, and ends."""
    os.write(2, b"\n\x1e\n")
    faulthandler.dump_traceback_later(request["seconds"], exit=True, file=2)


def perform(request):
    try:
        function = load(request["function"])
        return called(function, request) if "input" in request else {"ready": True}
    except Fault as fault:
        return {"fault": str(fault)}
    except BaseException as error:
        report(error)
        # After running out of memory, nobody knows what still works.
        return {"fault": described(error), "unfit": isinstance(error, MemoryError)}


def load(path):
    """The function of a dotted path. Python imports a module once, and again after it failed."""
    module, _, name = path.rpartition(".")
    if module not in sys.modules:
        importlib.invalidate_caches()
    loaded = importlib.import_module(module)
    if not is_own(getattr(loaded, "__file__", None)):
        raise Fault("the name of the module `%s` is taken by one of Python's own" % module)
    function = getattr(loaded, name, None)
    if not callable(function):
        what = "has no function" if function is None else "has something else under the name"
        raise Fault("%s %s `%s`" % (shown(loaded.__file__), what, name))
    return function


def called(function, request):
    try:
        result = function(Context(request))
        if isinstance(result, types.CoroutineType):
            result = awaited(result)
    except EndpointError as error:
        return declared(error)
    if not isinstance(result, dict):
        raise Fault("it returned a value of type %s, not a dict" % type(result).__name__)
    return {"result": result}


def awaited(coroutine):
    """What a function that is `async` returns. Each call has a loop of its own, which ends with it."""
    import asyncio

    return asyncio.run(coroutine)


def declared(error):
    if not (isinstance(error.code, str) and isinstance(error.message, str)):
        return {"fault": "it raised an EndpointError whose code or message is no text"}
    return {"error": {"code": error.code, "message": error.message, "details": error.details}}


def report(error):
    """Prints the traceback, from the deployment's own files on."""
    trace = error.__traceback__
    while trace and not is_own(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    traceback.print_exception(type(error), error, trace)


def described(error):
    """The place in the deployment's own files, and the exception."""
    is_syntax = isinstance(error, SyntaxError) and is_own(error.filename)
    try:
        text = error.msg if is_syntax else str(error)
    except Exception:
        text = "(its text can't be told)"
    kind = type(error).__name__
    place = (error.filename, error.lineno) if is_syntax else last_own_place(error)
    told = "%s: %s" % (kind, text) if text else kind
    return ("%s line %s: %s" % (shown(place[0]), place[1], told) if place else told)[:TEXT_CHARS_MAX]


def last_own_place(error):
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if is_own(frame.filename)]
    return (frames[-1].filename, frames[-1].lineno) if frames else None


def is_own(file):
    return (file or "").startswith(FOLDER + os.sep)


def shown(file):
    return os.path.relpath(file, os.path.dirname(FOLDER))


def encoded(answer, answer_bytes_max):
    try:
        line = json.dumps(answer, allow_nan=False, separators=(",", ":")).encode()
    except BaseException as error:
        text = "what it returned is no JSON: %s: %s" % (type(error).__name__, error)
        return json.dumps({"fault": text[:TEXT_CHARS_MAX], "unfit": isinstance(error, MemoryError)}).encode()
    if len(line) > answer_bytes_max:
        return json.dumps({"fault": "what it returned takes more than %d bytes" % answer_bytes_max}).encode()
    return line


def flush():
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except Exception:
            pass


def end_with(pipe):
    """Ends this process and its children once nobody can send requests any more, even in mid-call."""
    poll = select.poll()
    poll.register(pipe, 0)
    poll.poll()
    try:
        os.killpg(os.getpid(), signal.SIGKILL)
    finally:
        os._exit(0)


def close_others(kept):
    """Whatever whoever started the host left open is none of the functions' business."""
    for name in os.listdir("/dev/fd"):
        if int(name) not in kept:
            try:
                os.close(int(name))
            except OSError:
                pass


def limit(kind, value):
    try:
        resource.setrlimit(kind, (value, value))
    except (OSError, ValueError) as error:
        print("a limit can't be set here: %s" % error, file=sys.stderr)


def start(requests, memory_bytes, answer_bytes_max):
    answers = os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    close_others({0, 1, 2, requests.fileno(), answers.fileno()})
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True, errors="backslashreplace")
    limit(resource.RLIMIT_AS, memory_bytes)
    limit(resource.RLIMIT_CORE, 0)
    faulthandler.enable(file=2)

    given = types.ModuleType("forecourt", "What functions of a deployment are given.")
    EndpointError.__module__ = "forecourt"
    given.EndpointError = EndpointError
    given.Context = Context
    sys.modules["forecourt"] = given
    sys.path.insert(0, FOLDER)

    threading.Thread(target=end_with, args=(requests,), daemon=True).start()
    serve(requests, answers, answer_bytes_max)


start(f, int(sys.argv[2]), int(sys.argv[3]))  # noqa: F821, `f` is the pipe that this text came from
