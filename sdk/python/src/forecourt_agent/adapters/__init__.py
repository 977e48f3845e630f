"""Agents of other libraries, each behind `to_agent`: `forecourt_agent.adapters.pydantic_ai.to_agent(my_agent)`."""
