#!/usr/bin/env python3
"""A model that follows a script: drives a coding agent through fixed steps, offline.

usage: model.py AGENT SCRIPT LOG PORTFILE

Serves on a free loopback port, which it writes to PORTFILE, what four kinds of agents ask for:
OpenAI chat completions (qwen, opencode, cline, pi, copilot, droid, continue, kilo), the Gemini API,
Anthropic messages (claude) and OpenAI responses (codex).  SCRIPT has one step a line, words parted by tabs:

    shell COMMAND | read PATH | write PATH TEXT | edit PATH OLD NEW | delete PATH | list PATH | search TEXT

The step to play is the number of tool results that the conversation holds, so the server keeps no
state and questions beside the main line (titles, summaries) do not disturb it.  LOG gets one JSON
line for each result that came back, and one for each request that could not be played.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

# What each agent calls the tools, and how it wants the words of a step.
SNAKE = {
    "shell": ("run_shell_command", lambda c: {"command": c, "description": "step", "is_background": False}),
    "read": ("read_file", lambda p: {"file_path": p}),
    "write": ("write_file", lambda p, t: {"file_path": p, "content": t}),
    "edit": ("edit", lambda p, o, n: {"file_path": p, "old_string": o, "new_string": n}),
    "list": ("list_directory", lambda p: {"path": p}),
    "search": ("grep_search", lambda p: {"pattern": p}),
}
TOOLS = {
    "qwen": SNAKE,
    "gemini": {
        **SNAKE,
        "shell": ("run_shell_command", lambda c: {"command": c, "description": "step"}),
        "list": ("list_directory", lambda p: {"dir_path": p}),
        "edit": (
            "replace",
            lambda p, o, n: {"file_path": p, "old_string": o, "new_string": n, "instruction": "step"},
        ),
    },
    "opencode": {
        "shell": ("bash", lambda c: {"command": c, "description": "step"}),
        "read": ("read", lambda p: {"filePath": p}),
        "write": ("write", lambda p, t: {"filePath": p, "content": t}),
        "edit": ("edit", lambda p, o, n: {"filePath": p, "oldString": o, "newString": n}),
        "list": ("bash", lambda p: {"command": "ls " + p, "description": "step"}),
        # Its own search fetches ripgrep from the network where the machine has none.
        "search": ("bash", lambda p: {"command": f"grep -rn '{p}' --include='*.c' .", "description": "step"}),
    },
    "claude": {
        "shell": ("Bash", lambda c: {"command": c, "description": "step"}),
        "read": ("Read", lambda p: {"file_path": p}),
        "write": ("Write", lambda p, t: {"file_path": p, "content": t}),
        "edit": ("Edit", lambda p, o, n: {"file_path": p, "old_string": o, "new_string": n}),
        "list": ("Bash", lambda p: {"command": "ls " + p, "description": "step"}),
        "search": ("Bash", lambda p: {"command": f"grep -rn '{p}' --include='*.c' .", "description": "step"}),
    },
    "pi": {
        "shell": ("bash", lambda c: {"command": c}),
        "read": ("read", lambda p: {"path": p}),
        "write": ("write", lambda p, t: {"path": p, "content": t}),
        "edit": ("edit", lambda p, o, n: {"path": p, "edits": [{"oldText": o, "newText": n}]}),
        "list": ("bash", lambda p: {"command": "ls " + p}),
        "search": ("bash", lambda p: {"command": f"grep -rn '{p}' --include='*.c' ."}),
    },
    "cline": {
        "shell": ("run_commands", lambda c: {"commands": [c]}),
        "read": ("read_files", lambda p: {"files": [{"path": p}]}),
        "write": ("editor", lambda p, t: {"path": p, "new_text": t}),
        "edit": ("editor", lambda p, o, n: {"path": p, "old_text": o, "new_text": n}),
        "list": ("run_commands", lambda p: {"commands": ["ls " + p]}),
        "search": ("search_codebase", lambda p: {"queries": [p]}),
    },
    "copilot": {
        "shell": ("bash", lambda c: {"command": c, "description": "step", "mode": "sync", "initial_wait": 30}),
        "read": ("view", lambda p: {"path": p}),
        "write": ("create", lambda p, t: {"path": p, "file_text": t}),
        "edit": ("edit", lambda p, o, n: {"path": p, "old_str": o, "new_str": n}),
        "list": ("view", lambda p: {"path": p}),
        "search": ("bash", lambda p: {"command": f"grep -rn '{p}' --include='*.c' .", "description": "step"}),
    },
    "droid": {
        "shell": ("Execute", lambda c: {"summary": "step", "command": c}),
        "read": ("Read", lambda p: {"file_path": p}),
        "write": ("Create", lambda p, t: {"file_path": p, "content": t}),
        "edit": ("Edit", lambda p, o, n: {"file_path": p, "old_str": o, "new_str": n}),
        "list": ("Execute", lambda p: {"summary": "step", "command": "ls " + p}),
        "search": ("Grep", lambda p: {"pattern": p, "glob_pattern": "*.c", "output_mode": "content"}),
    },
    "continue": {
        "shell": ("Bash", lambda c: {"command": c}),
        "read": ("Read", lambda p: {"filepath": p}),
        "write": ("Write", lambda p, t: {"filepath": p, "content": t}),
        "edit": ("Edit", lambda p, o, n: {"file_path": p, "old_string": o, "new_string": n}),
        "list": ("List", lambda p: {"dirpath": p}),
        "search": ("Bash", lambda p: {"command": f"grep -rn '{p}' --include='*.c' ."}),
    },
    "codex": {
        "shell": ("exec_command", lambda c: {"cmd": c, "yield_time_ms": 30000}),
        # It has no tool to read; to write it has patches, which are no JSON.
        "read": ("exec_command", lambda p: {"cmd": "cat " + p}),
        "write": ("apply_patch", lambda p, t: patch(f"*** Add File: {p}", *added(t))),
        "edit": ("apply_patch", lambda p, o, n: patch(f"*** Update File: {p}", "@@", *changed(p, o, n))),
        "delete": ("apply_patch", lambda p: patch(f"*** Delete File: {p}")),
        "list": ("exec_command", lambda p: {"cmd": "ls " + p}),
        "search": ("exec_command", lambda p: {"cmd": f"grep -rn '{p}' --include='*.c' ."}),
    },
}

TOOLS["kilo"] = TOOLS["opencode"]


def patch(*lines):
    return "\n".join(["*** Begin Patch", *lines, "*** End Patch"])


def added(text):
    return ["+" + line for line in text.rstrip("\n").split("\n")]


def changed(path, old, new):
    with open(path, encoding="utf-8") as f:
        lines = [line.rstrip("\n") for line in f if old in line]
    return [sign + line for s in lines for sign, line in (("-", s), ("+", s.replace(old, new)))]


class Script:
    def __init__(self, agent, path, log):
        self.tools = TOOLS[agent]
        with open(path, encoding="utf-8") as f:
            self.steps = [line.rstrip("\n").split("\t") for line in f if line.strip()]
        self.log_file = log
        self.lock = threading.Lock()
        self.told = 0

    def log(self, **record):
        with self.lock, open(self.log_file, "a", encoding="utf-8") as f:
            f.write(json.dumps(record) + "\n")

    def next(self, results):
        """(tool, arguments) of the step after these results, or None at the end."""
        with self.lock:
            new, first = results[self.told :], self.told
            self.told = max(self.told, len(results))
        for i, text in enumerate(new, first):
            step = self.steps[i] if i < len(self.steps) else ["?"]
            self.log(step=i, kind=step[0], words=step[1:], result=text)
        if len(results) >= len(self.steps):
            return None
        kind, *words = self.steps[len(results)]
        if kind not in self.tools and kind == "delete":
            kind, words = "shell", ["rm " + words[0]]
        name, arguments = self.tools[kind]
        return name, arguments(*(w.replace("\\n", "\n") for w in words))


def as_text(content):
    """Whatever a result is wrapped in, as one text."""
    return content if isinstance(content, str) else json.dumps(content)


# --- the dialects: results() reads a conversation, reply() writes the next turn ----------------------


class Chat:
    """OpenAI chat completions."""

    @staticmethod
    def results(body):
        return [as_text(m.get("content")) for m in body.get("messages", []) if m.get("role") == "tool"]

    @staticmethod
    def reply(body, call, n):
        message = {"role": "assistant", "content": None if call else "done"}
        if call:
            function = {"name": call[0], "arguments": json.dumps(call[1])}
            message["tool_calls"] = [{"index": 0, "id": f"call_{n}", "type": "function", "function": function}]
        base = {"id": f"chat-{n}", "created": 0, "model": body.get("model", "fake")}
        finish = "tool_calls" if call else "stop"
        usage = {"prompt_tokens": 10, "completion_tokens": 10, "total_tokens": 20}
        if not body.get("stream"):
            choice = {"index": 0, "message": message, "finish_reason": finish}
            return {**base, "object": "chat.completion", "choices": [choice], "usage": usage}
        base["object"] = "chat.completion.chunk"
        return [
            (None, {**base, "choices": [{"index": 0, "delta": message, "finish_reason": None}]}),
            (None, {**base, "choices": [{"index": 0, "delta": {}, "finish_reason": finish}], "usage": usage}),
            (None, "[DONE]"),
        ]


class Gemini:
    """generateContent and streamGenerateContent."""

    @staticmethod
    def results(body):
        parts = [p for c in body.get("contents", []) for p in c.get("parts", [])]
        return [as_text(p["functionResponse"].get("response")) for p in parts if "functionResponse" in p]

    @staticmethod
    def reply(body, call, n):
        part = {"text": "done"}
        if call:
            part = {"functionCall": {"id": f"call_{n}", "name": call[0], "args": call[1]}}
        elif "json" in body.get("generationConfig", {}).get("responseMimeType", ""):
            part = {"text": json.dumps({"reasoning": "done", "next_speaker": "user", "model_choice": "flash"})}
        usage = {"promptTokenCount": 10, "candidatesTokenCount": 10, "totalTokenCount": 20}
        candidate = {"index": 0, "content": {"role": "model", "parts": [part]}, "finishReason": "STOP"}
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "fake"}
        return [(None, answer)] if body.get("stream") else answer


class Messages:
    """Anthropic messages."""

    @staticmethod
    def results(body):
        found = []
        for message in body.get("messages", []):
            if isinstance(message.get("content"), list):
                found += [b for b in message["content"] if b.get("type") == "tool_result"]
        return [as_text(b.get("content")) for b in found]

    @staticmethod
    def reply(body, call, n):
        block, delta = {"type": "text", "text": ""}, {"type": "text_delta", "text": "done"}
        whole = {"type": "text", "text": "done"}
        if call:
            block = {"type": "tool_use", "id": f"toolu_{n}", "name": call[0], "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(call[1])}
            whole = {**block, "input": call[1]}
        usage = {"input_tokens": 10, "output_tokens": 10}
        stop = "tool_use" if call else "end_turn"
        message = {"id": f"msg_{n}", "type": "message", "role": "assistant", "model": body.get("model", "fake")}
        message |= {"content": [], "stop_reason": None, "stop_sequence": None, "usage": usage}
        if not body.get("stream"):
            return {**message, "content": [whole], "stop_reason": stop}
        events = [
            {"type": "message_start", "message": message},
            {"type": "content_block_start", "index": 0, "content_block": block},
            {"type": "content_block_delta", "index": 0, "delta": delta},
            {"type": "content_block_stop", "index": 0},
            {"type": "message_delta", "delta": {"stop_reason": stop, "stop_sequence": None}, "usage": usage},
            {"type": "message_stop"},
        ]
        return [(e["type"], e) for e in events]


class Responses:
    """OpenAI responses."""

    @staticmethod
    def results(body):
        items = body.get("input", [])
        kinds = ("function_call_output", "custom_tool_call_output")
        return [as_text(i.get("output")) for i in items if isinstance(i, dict) and i.get("type") in kinds]

    @staticmethod
    def reply(body, call, n):
        item = {"type": "message", "id": f"msg_{n}", "role": "assistant", "status": "completed"}
        item["content"] = [{"type": "output_text", "text": "done", "annotations": []}]
        if call:
            kind, value = ("custom_tool_call", {"input": call[1]})
            if isinstance(call[1], dict):
                kind, value = ("function_call", {"arguments": json.dumps(call[1])})
            item = {"type": kind, "id": f"fc_{n}", "call_id": f"call_{n}", "status": "completed", "name": call[0]}
            item |= value
        response = {"id": f"resp_{n}", "object": "response", "status": "in_progress", "output": []}
        usage = {"input_tokens": 10, "output_tokens": 10, "total_tokens": 20}
        events = [
            {"type": "response.created", "response": response},
            {"type": "response.output_item.added", "output_index": 0, "item": item},
            {"type": "response.output_item.done", "output_index": 0, "item": item},
            {
                "type": "response.completed",
                "response": {**response, "status": "completed", "output": [item], "usage": usage},
            },
        ]
        return [(e["type"], e) for e in events]


# By the end of the request's path.
DIALECTS = (
    ("/chat/completions", Chat),
    (":generateContent", Gemini),
    (":streamGenerateContent", Gemini),
    ("/v1/messages", Messages),
    ("/responses", Responses),
)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    script = None

    def log_message(self, format, *args):
        pass

    def send(self, status, kind, data):
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def do_HEAD(self):
        self.send(200, "application/json", b"")

    def do_GET(self):
        self.send(404, "application/json", b"{}")

    def do_POST(self):
        raw = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        path = self.path.partition("?")[0]
        dialect = next((d for end, d in DIALECTS if path.endswith(end)), None)
        try:
            body = json.loads(raw)
        except ValueError:
            body = None
        if not dialect or not isinstance(body, dict):
            self.script.log(unplayed=path, body=raw.decode("utf-8", "replace")[:2000])
            self.send(404, "application/json", b"{}")
            return
        if path.endswith(":streamGenerateContent"):
            body["stream"] = True
        results = dialect.results(body)
        # Only the main line offers tools.
        call = self.script.next(results) if body.get("tools") else None
        answer = dialect.reply(body, call, len(results))
        if isinstance(answer, dict):
            self.send(200, "application/json", json.dumps(answer).encode())
            return
        events = []
        for name, data in answer:
            text = data if isinstance(data, str) else json.dumps(data)
            events.append((f"event: {name}\n" if name else "") + f"data: {text}\n\n")
        self.send(200, "text/event-stream", "".join(events).encode())


def main():
    agent, script, log, port_file = sys.argv[1:]
    Handler.script = Script(agent, script, log)
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    with open(port_file, "w", encoding="utf-8") as f:
        f.write(f"{server.server_port}\n")
    server.serve_forever()


main()
