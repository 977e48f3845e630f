# An agent of a2a-sdk (Python) as its users write one, with all that the library serves over HTTP: JSON-RPC of 1.0 and
# 0.3, and HTTP+JSON. Says its address in its first line.

import socket

import uvicorn
from a2a.helpers import new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes, create_rest_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill
from starlette.applications import Starlette


class Echo(AgentExecutor):
    async def execute(self, context, event_queue):
        task = context.current_task
        if task is None:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        await updater.add_artifact([new_text_part(context.get_user_input())])
        await updater.complete()

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


listening = socket.create_server(("127.0.0.1", 0))
url = f"http://127.0.0.1:{listening.getsockname()[1]}"
interfaces = [("JSONRPC", "1.0", "/rpc"), ("HTTP+JSON", "1.0", "/rest"), ("JSONRPC", "0.3", "/rpc")]
card = AgentCard(
    name="Echo",
    description="Says what it is told.",
    version="1.0.0",
    supported_interfaces=[
        AgentInterface(url=url + path, protocol_binding=binding, protocol_version=version)
        for binding, version, path in interfaces
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain"],
    skills=[AgentSkill(id="echo", name="Echo", description="Says it again.", tags=["echo"])],
)
handler = DefaultRequestHandler(agent_executor=Echo(), task_store=InMemoryTaskStore(), agent_card=card)
routes = create_agent_card_routes(card)
routes += create_jsonrpc_routes(handler, "/rpc", enable_v0_3_compat=True)
routes += create_rest_routes(handler, path_prefix="/rest")
print(url, flush=True)
uvicorn.Server(uvicorn.Config(Starlette(routes=routes), log_level="error")).run(sockets=[listening])
