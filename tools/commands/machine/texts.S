/* Files of tools/texts as strings, for completion.c and init_text.c. */
	.section .rodata
	.macro text id, file
	.globl text_\id
	.hidden text_\id
text_\id:
	.incbin "tools/texts/\file"
	.byte 0
	.endm

	text bash, "completion.bash"
	text zsh, "completion.zsh"
	text fish, "completion.fish"
	text user, "init-user.ini"
	text project, "init-project.ini"
	text floor, "init-floor.ini"

	.section .note.GNU-stack, "", @progbits
