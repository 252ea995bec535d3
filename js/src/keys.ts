// Which keys are the widget's: those pressed alone. With a modifier they are the host's.

export const isModified = (event: KeyboardEvent) => event.ctrlKey || event.altKey || event.metaKey || event.shiftKey;
