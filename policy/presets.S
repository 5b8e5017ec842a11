/* The presets as they stand in policy/presets, for preset.c. */
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

	.section .note.GNU-stack, "", @progbits
