import sys

import uvicorn
from a2a.helpers import new_raw_part, new_task_from_user_message, new_text_part
from a2a.server.agent_execution import AgentExecutor
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_agent_card_routes, create_jsonrpc_routes
from a2a.server.tasks import InMemoryTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, AgentInterface, AgentSkill, TaskState
from starlette.applications import Starlette

PRICES = {"S": 12, "M": 14}


class Shirts(AgentExecutor):
    async def execute(self, context, event_queue):
        task = context.current_task
        is_new = task is None
        if is_new:
            task = new_task_from_user_message(context.message)
            await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        if is_new:
            await self.say(updater, "With pleasure. ", is_first=True)
            await self.say(updater, "There are two sizes. ")
            await self.ask(updater)
            return
        size = context.get_user_input().strip().upper()
        if size not in PRICES:
            await self.ask(updater, f"Please choose one of: {', '.join(PRICES)}.\n\n")
            return
        order = f"size,price\n{size},{PRICES[size]}\n".encode()
        await updater.add_artifact([new_raw_part(order, "text/csv", "order.csv")], name="order.csv")
        await self.say(updater, f"One shirt of size {size}: {PRICES[size]} euros.", is_last=True)
        await updater.update_status(TaskState.TASK_STATE_COMPLETED, metadata={"cost": 0.02})

    async def say(self, updater, text, is_first=False, is_last=False):
        await updater.add_artifact([new_text_part(text)], artifact_id="answer", append=not is_first, last_chunk=is_last)

    async def ask(self, updater, before=""):
        question = new_text_part(f"{before}Which size? ({', '.join(PRICES)})")
        await updater.requires_input(updater.new_agent_message([question]))

    async def cancel(self, context, event_queue):
        await TaskUpdater(event_queue, context.task_id, context.context_id).cancel()


port = int(sys.argv[1])
card = AgentCard(
    name="Shirts",
    description="Sells shirts.",
    version="1.0.0",
    supported_interfaces=[
        AgentInterface(url=f"http://127.0.0.1:{port}/", protocol_binding="JSONRPC", protocol_version="1.0")
    ],
    capabilities=AgentCapabilities(streaming=True),
    default_input_modes=["text/plain"],
    default_output_modes=["text/plain", "text/csv"],
    skills=[AgentSkill(id="shirts", name="Shirts", description="Sells shirts.", tags=["shirts"])],
)
handler = DefaultRequestHandler(agent_executor=Shirts(), task_store=InMemoryTaskStore(), agent_card=card)
routes = create_agent_card_routes(card) + create_jsonrpc_routes(handler, "/")
uvicorn.run(Starlette(routes=routes), port=port, log_level="error")
