/* The presets and the agents' profiles as they stand in policy/presets, for preset.c and agents.c. */
	.section .rodata
	.macro preset id, file
	.globl preset_\id\()_begin, preset_\id\()_end
	.hidden preset_\id\()_begin, preset_\id\()_end
preset_\id\()_begin:
	.incbin "\file"
preset_\id\()_end:
	.byte 0
	.endm

	preset agent, "policy/presets/agent.ini"
	preset security_v0, "policy/presets/security-v0.ini"
	preset review, "policy/presets/review.ini"
	preset ci, "policy/presets/ci.ini"
	preset bridge, "policy/presets/bridge.ini"
	preset controller, "policy/presets/controller.ini"
	preset home, "policy/presets/home.ini"

	.macro profile id
	.globl agent_\id\()_begin, agent_\id\()_end
	.hidden agent_\id\()_begin, agent_\id\()_end
agent_\id\()_begin:
	.incbin "policy/presets/agents/\id\().ini"
agent_\id\()_end:
	.byte 0
	.endm

#define AGENT(id, name, commands, packages, home, closed) profile id
#include "agents.def"

	.section .note.GNU-stack, "", @progbits
