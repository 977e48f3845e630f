"""Agents of other libraries, with the models that these have for tests. Each is skipped where its library is absent."""

import contextlib
import importlib.util
import unittest
from typing import Any

from forecourt_agent.testing import host


def has(module: str) -> bool:
    with contextlib.suppress(ModuleNotFoundError):
        return importlib.util.find_spec(module) is not None
    return False


def add(a: int, b: int) -> int:
    """Adds two numbers."""
    return a + b


@unittest.skipUnless(has("pydantic_ai"), "pydantic-ai is not installed")
class PydanticAi(unittest.IsolatedAsyncioTestCase):
    async def test_text_tools_history_and_usage(self) -> None:
        from pydantic_ai import Agent
        from pydantic_ai.messages import ToolReturnPart
        from pydantic_ai.models.function import AgentInfo, DeltaToolCall, FunctionModel

        from forecourt_agent.adapters.pydantic_ai import to_agent

        heard: list[str] = []

        async def model(messages: list[Any], info: AgentInfo) -> Any:
            heard.append(
                " | ".join(
                    str(part.content) for message in messages for part in message.parts if hasattr(part, "content")
                )
            )
            if info.function_tools and not any(isinstance(part, ToolReturnPart) for part in messages[-1].parts):
                yield {0: DeltaToolCall(name="add", json_args='{"a": 1, "b": 2}')}
            else:
                yield "It is "
                yield "three."

        async with host(to_agent(Agent(FunctionModel(stream_function=model)), "sums"), tools={"add": add}) as h:
            answer = await h.say("1 + 2?")
            self.assertEqual(
                (answer.ending, answer.text, h.calls), ("complete", "It is three.", [("add", {"a": 1, "b": 2})])
            )
            self.assertEqual([call.get("result") for call in answer.tool_calls], [None, "3"])
            self.assertGreater(answer.usage[0]["output_tokens"], 0)
            await h.say("And again?")
        self.assertIn("1 + 2? | It is three. | And again?", heard[-1])

    async def test_an_approval_is_asked_for_and_an_output_that_is_no_text_is_data(self) -> None:
        from pydantic_ai import Agent, DeferredToolRequests
        from pydantic_ai.models.test import TestModel

        from forecourt_agent.adapters.pydantic_ai import to_agent

        agent = Agent(TestModel(), output_type=[str, DeferredToolRequests], name="careful")
        done: list[int] = []

        @agent.tool_plain(requires_approval=True)
        def remove(n: int) -> str:
            done.append(n)
            return "removed"

        for said, wanted in (("yes", [0]), ("no", [])):
            done.clear()
            async with host(to_agent(agent)) as h:
                asked = await h.say("remove it")
                assert asked.question is not None
                self.assertIn("May `remove` be called with", asked.question.text)
                self.assertEqual(((await h.say(said)).ending, done), ("complete", wanted))
        typed = Agent(TestModel(custom_output_args={"size": 3}), output_type=dict[str, int])
        async with host(to_agent(typed)) as h:
            self.assertEqual((await h.say("hi")).data, [{"size": 3}])


@unittest.skipUnless(has("langgraph"), "langgraph is not installed")
class LangGraph(unittest.IsolatedAsyncioTestCase):
    async def test_text_streams_and_threads_are_conversations(self) -> None:
        from langchain_core.language_models.fake_chat_models import GenericFakeChatModel
        from langchain_core.messages import AIMessage
        from langgraph.checkpoint.memory import MemorySaver
        from langgraph.graph import START, MessagesState, StateGraph

        from forecourt_agent.adapters.langgraph import to_agent

        said: list[int] = []
        used: Any = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
        replies = iter([AIMessage("one two", id="a"), AIMessage("three", id="b", usage_metadata=used)])
        model = GenericFakeChatModel(messages=replies)

        async def chat(state: MessagesState) -> Any:
            said.append(len(state["messages"]))
            return {"messages": [await model.ainvoke(state["messages"])]}

        graph = StateGraph(MessagesState)
        graph.add_node("chat", chat)
        graph.add_edge(START, "chat")
        async with host(to_agent(graph.compile(checkpointer=MemorySaver()), "chat")) as h:
            first = await h.say("hi")
            self.assertEqual((first.text, len([line for line in first.lines if "text" in line])), ("one two", 3))
            self.assertEqual((await h.say("more")).text, "three")
        self.assertEqual(said, [1, 3])

    async def test_history_goes_along_without_a_checkpointer(self) -> None:
        from langchain_core.messages import AIMessage
        from langchain_core.runnables import RunnableConfig
        from langgraph.graph import START, MessagesState, StateGraph

        from forecourt_agent.adapters.langgraph import to_agent

        async def chat(state: MessagesState, config: RunnableConfig) -> Any:
            total = await config["configurable"]["forecourt"].call("add", a=1, b=2)
            used = {"input_tokens": 3, "output_tokens": 2, "total_tokens": 5}
            return {"messages": [AIMessage(f"{len(state['messages'])} {total}", usage_metadata=used)]}

        graph = StateGraph(MessagesState)
        graph.add_node("chat", chat)
        graph.add_edge(START, "chat")
        async with host(to_agent(graph.compile(), "chat"), tools={"add": add}) as h:
            self.assertEqual((await h.say("hi")).text, "1 3")
            answer = await h.say("more")
            self.assertEqual((answer.text, answer.usage[0]["input_tokens"]), ("3 3", 3))

    async def test_an_interrupt_is_a_question_that_outlives_the_process(self) -> None:
        from langgraph.checkpoint.memory import MemorySaver
        from langgraph.graph import START, MessagesState, StateGraph
        from langgraph.types import interrupt

        from forecourt_agent.adapters.langgraph import to_agent

        async def order(state: MessagesState) -> Any:
            size = interrupt({"question": "Which size?", "options": ["S", "M"]})
            return {"messages": [("ai", f"One in {size}.")]}

        async def show(state: MessagesState) -> Any:
            from langchain_core.messages import AIMessage

            return {"messages": [AIMessage("Ordered.")]}

        graph = StateGraph(MessagesState)
        graph.add_node("order", order)
        graph.add_node("show", show)
        graph.add_edge(START, "order")
        graph.add_edge("order", "show")
        async with host(to_agent(graph.compile(checkpointer=MemorySaver()), "order")) as h:
            asked = await h.say("a shirt")
            assert asked.question is not None
            self.assertEqual((asked.question.text, asked.question.options), ("Which size? (S, M)", ["S", "M"]))
            await h.restart()
            self.assertEqual((await h.say("M")).text, "Ordered.")


@unittest.skipUnless(has("agents.items"), "openai-agents is not installed")
class OpenAiAgents(unittest.IsolatedAsyncioTestCase):
    def model(self, *replies: Any) -> Any:
        from agents import Model
        from openai.types.responses import Response, ResponseCompletedEvent, ResponseTextDeltaEvent

        left = list(replies)
        heard: list[Any] = []

        class Scripted(Model):
            async def get_response(self, *args: Any, **more: Any) -> Any:
                raise NotImplementedError

            async def stream_response(self, system: Any, input: Any, *args: Any, **more: Any) -> Any:
                heard.append(input)
                output = left.pop(0)
                for item in output:
                    for content in getattr(item, "content", None) or []:
                        for word in content.text.split(" "):
                            yield ResponseTextDeltaEvent(
                                type="response.output_text.delta",
                                delta=word + " ",
                                content_index=0,
                                item_id="m",
                                output_index=0,
                                sequence_number=0,
                                logprobs=[],
                            )
                response = Response.model_construct(id="r", output=output, usage=_openai_usage())
                yield ResponseCompletedEvent.model_construct(
                    type="response.completed", response=response, sequence_number=1
                )

        model: Any = Scripted()
        model.heard = heard
        return model

    def says(self, text: str) -> Any:
        from openai.types.responses import ResponseOutputMessage, ResponseOutputText

        content = ResponseOutputText(type="output_text", text=text, annotations=[], logprobs=[])
        return ResponseOutputMessage(id="m", type="message", role="assistant", status="completed", content=[content])

    def calls(self, name: str, arguments: str) -> Any:
        from openai.types.responses import ResponseFunctionToolCall

        return ResponseFunctionToolCall(type="function_call", call_id="c1", name=name, arguments=arguments)

    async def test_text_tools_history_and_usage(self) -> None:
        from agents import Agent, RunConfig

        from forecourt_agent.adapters.openai_agents import to_agent

        model = self.model([self.calls("add", '{"a": 1, "b": 2}')], [self.says("It is three.")], [self.says("Yes.")])
        theirs = Agent(name="Sums", model=model)
        ours = to_agent(theirs, run_config=RunConfig(tracing_disabled=True), model="fake")
        async with host(ours, tools={"add": add}) as h:
            answer = await h.say("1 + 2?")
            self.assertEqual(
                (answer.ending, answer.text, h.calls), ("complete", "It is three. ", [("add", {"a": 1, "b": 2})])
            )
            self.assertEqual([call.get("result") for call in answer.tool_calls], [None, "3"])
            self.assertEqual((answer.usage[0]["model"], answer.usage[0]["input_tokens"]), ("fake", 14))
            await h.say("Sure?")
        said = [one["content"] for one in model.heard[-1]]
        self.assertEqual(said, ["1 + 2?", "It is three. ", "Sure?"])

    async def test_an_approval_is_asked_for(self) -> None:
        from agents import Agent, RunConfig, function_tool

        from forecourt_agent.adapters.openai_agents import to_agent

        done: list[int] = []

        @function_tool(needs_approval=True)
        def remove(n: int) -> str:
            done.append(n)
            return "removed"

        for said, wanted in (("yes", [7]), ("no", [])):
            done.clear()
            model = self.model([self.calls("remove", '{"n": 7}')], [self.says("Done.")])
            theirs = Agent(name="Careful", model=model, tools=[remove])
            async with host(to_agent(theirs, run_config=RunConfig(tracing_disabled=True))) as h:
                asked = await h.say("remove it")
                assert asked.question is not None
                self.assertEqual(asked.question.text, 'May `remove` be called with {"n": 7}?')
                answer = await h.say(said)
                self.assertEqual((answer.text, done), ("Done. ", wanted))
                # Each request is counted once, although the library adds up what went before.
                self.assertEqual([used["input_tokens"] for used in (*asked.usage, *answer.usage)], [7, 7])


def _openai_usage() -> Any:
    from openai.types.responses import ResponseUsage
    from openai.types.responses.response_usage import InputTokensDetails, OutputTokensDetails

    return ResponseUsage.model_construct(
        input_tokens=7,
        output_tokens=2,
        total_tokens=9,
        input_tokens_details=InputTokensDetails.model_construct(cached_tokens=0),
        output_tokens_details=OutputTokensDetails.model_construct(reasoning_tokens=0),
    )


@unittest.skipUnless(has("google.adk"), "google-adk is not installed")
class GoogleAdk(unittest.IsolatedAsyncioTestCase):
    async def test_text_tools_history_state_and_usage(self) -> None:
        from google.adk.agents import LlmAgent
        from google.adk.models import BaseLlm, LlmResponse
        from google.adk.tools import ToolContext
        from google.genai import types

        from forecourt_agent.adapters.google_adk import to_agent

        heard: list[list[str]] = []

        def say(text: str, **more: Any) -> Any:
            return LlmResponse(content=types.Content(role="model", parts=[types.Part(text=text)]), **more)

        def call(name: str, **args: Any) -> Any:
            part = types.Part(function_call=types.FunctionCall(name=name, args=args))
            return LlmResponse(content=types.Content(role="model", parts=[part]))

        class Scripted(BaseLlm):
            async def generate_content_async(self, llm_request: Any, stream: bool = False) -> Any:
                heard.append([part.text or "…" for content in llm_request.contents for part in content.parts])
                answered = [p for p in llm_request.contents[-1].parts if p.function_response]
                if not answered:
                    yield call("add", a=1, b=2)
                elif answered[0].function_response.name == "add":
                    yield call("count")
                else:
                    yield say("It is ", partial=True)
                    yield say("three.", partial=True)
                    used = types.GenerateContentResponseUsageMetadata(prompt_token_count=7, candidates_token_count=2)
                    yield say("It is three.", usage_metadata=used)

        def count(tool_context: ToolContext) -> int:
            """Counts."""
            tool_context.state["n"] = tool_context.state.get("n", 0) + 1
            return int(tool_context.state["n"])

        theirs = LlmAgent(name="sums", model=Scripted(model="fake"), tools=[count])
        async with host(to_agent(theirs), tools={"add": add}) as h:
            answer = await h.say("1 + 2?")
            self.assertEqual(
                (answer.ending, answer.text, h.calls), ("complete", "It is three.", [("add", {"a": 1, "b": 2})])
            )
            self.assertEqual([call["name"] for call in answer.tool_calls], ["add", "add", "count", "count"])
            self.assertEqual((answer.usage[0]["input_tokens"], answer.state), (7, {"adk": {"n": 1}}))
            self.assertEqual((await h.say("Again?")).state, {"adk": {"n": 2}})
        self.assertEqual(heard[3][:3], ["1 + 2?", "It is three.", "Again?"])


if __name__ == "__main__":
    unittest.main()
