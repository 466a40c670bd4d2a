module stacks

go 1.18
