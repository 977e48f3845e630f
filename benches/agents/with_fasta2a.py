import base64
import sys
import uuid
from contextlib import asynccontextmanager
from datetime import datetime, timezone

import uvicorn
from fasta2a import FastA2A, Worker
from fasta2a.broker import InMemoryBroker
from fasta2a.schema import Artifact, Message, Part
from fasta2a.storage import InMemoryStorage

PRICES = {"S": 12, "M": 14}


# The times of its own storage have no zone, and the client of a2a-sdk reads none of those.
class ZonedStorage(InMemoryStorage):
    async def submit_task(self, *values):
        return zoned(await super().submit_task(*values))

    async def update_task(self, *values, **more):
        return zoned(await super().update_task(*values, **more))


def zoned(task):
    task["status"]["timestamp"] = datetime.now(timezone.utc).isoformat()
    return task


class Shirts(Worker[str]):
    async def run_task(self, params):
        task, context = params["id"], params["context_id"]
        await self.storage.update_task(task, state="working")
        await self.publish_status(task, context, "working")
        # Each message is a task of its own here: the context knows that a question was asked.
        if await self.storage.load_context(context) != "asked":
            await self.say(task, context, "With pleasure. ", is_first=True)
            await self.say(task, context, "There are two sizes. ", is_last=True)
            said = Artifact(artifact_id="answer", parts=[Part(text="With pleasure. There are two sizes. ")])
            await self.ask(task, context, artifacts=[said])
            return
        size = params["message"]["parts"][0].get("text", "").strip().upper()
        if size not in PRICES:
            await self.ask(task, context, f"Please choose one of: {', '.join(PRICES)}.\n\n")
            return
        order = base64.b64encode(f"size,price\n{size},{PRICES[size]}\n".encode()).decode()
        file = Artifact(
            artifact_id="order",
            name="order.csv",
            parts=[Part(raw=order, filename="order.csv", media_type="text/csv")],
        )
        await self.publish_artifact(task, context, file)
        text = f"One shirt of size {size}: {PRICES[size]} euros."
        answer = Artifact(artifact_id="answer", parts=[Part(text=text)], metadata={"cost": 0.02})
        await self.publish_artifact(task, context, answer)
        await self.storage.update_context(context, "done")
        await self.storage.update_task(task, state="completed", new_artifacts=[file, answer])

    async def say(self, task, context, text, is_first=False, is_last=False):
        piece = Artifact(artifact_id="answer", parts=[Part(text=text)])
        await self.publish_artifact(task, context, piece, append=not is_first, last_chunk=is_last)

    async def ask(self, task, context, before="", artifacts=None):
        parts = [Part(text=f"{before}Which size? ({', '.join(PRICES)})")]
        question = Message(role="agent", parts=parts, message_id=str(uuid.uuid4()), context_id=context, task_id=task)
        await self.storage.update_context(context, "asked")
        await self.storage.update_task(task, state="input-required", new_artifacts=artifacts, new_messages=[question])
        await self.publish_status(task, context, "input-required", question)

    async def cancel_task(self, params):
        await self.storage.update_task(params["id"], state="canceled")

    def build_message_history(self, history):
        return history

    def build_artifacts(self, result):
        return []


@asynccontextmanager
async def lifespan(app):
    async with app.task_manager, worker.run():
        yield


port = int(sys.argv[1])
storage, broker = ZonedStorage(), InMemoryBroker()
worker = Shirts(storage=storage, broker=broker)
app = FastA2A(
    storage=storage,
    broker=broker,
    name="Shirts",
    url=f"http://127.0.0.1:{port}",
    description="Sells shirts.",
    lifespan=lifespan,
)
uvicorn.run(app, port=port, log_level="error")
