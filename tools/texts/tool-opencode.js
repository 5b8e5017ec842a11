// pale's hook in opencode: asks before each tool.  Without an answer the tool is not used.
import { spawn } from "node:child_process"

const pale = process.env.PALE_TOOL_HOOK

function ask(tool, input) {
	return new Promise((resolve) => {
		const child = spawn(pale, ["tool", "hook", "opencode"], { stdio: ["pipe", "pipe", "ignore"] })
		let text = ""
		child.on("error", () => resolve(""))
		child.on("close", () => resolve(text))
		child.stdout.on("data", (data) => (text += data))
		child.stdin.on("error", () => {})
		child.stdin.end(JSON.stringify({ tool_name: tool, tool_input: input }))
	})
}

export const Pale = async () => ({
	"tool.execute.before": async (input, output) => {
		let said = {}
		try {
			said = JSON.parse(await ask(input.tool, output.args))
		} catch {}
		if (said.decision !== "allow") throw new Error(said.reason || "pale: no answer, so the tool is not used")
	},
})
