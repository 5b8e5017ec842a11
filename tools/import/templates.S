/* fence's own templates, as they were in August 2026: what `extends` may name without there being a file. */
	.section .rodata
	.globl fence_templates
	.hidden fence_templates
fence_templates:
	.incbin "tools/import/templates.json"
	.byte 0

	.section .note.GNU-stack, "", @progbits
