/** What has no sign of its own and changes how the text around it reads: controls, and what turns its direction. */
const HIDDEN = /(?![\t\n\r])[\p{Cc}\u200b\u202a-\u202e\u2060\u2066-\u2069\ufeff]/gu;

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, "0")}`;

/** Somebody's text as it is, with what is hidden in it as an escape: no name reads as another one. */
export const visible = (text: string): string => text.replace(HIDDEN, escaped);
