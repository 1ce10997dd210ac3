const escape = (text: string): string => text.replace(/[&<>"']/g, (sign) => `&#${sign.charCodeAt(0)};`);
const unescape = (text: string): string => text.replace(/&#(\d+);/g, (_, code) => String.fromCharCode(Number(code)));

/** Prints the page of `response_mode=form_post`. */
export function printFormPost(action: string, fields: URLSearchParams): string {
  const inputs = [...fields].map(([name, value]) => `<input type="hidden" name="${name}" value="${escape(value)}">`);
  return `<form method="post" action="${escape(action)}" data-form-post>${inputs.join("")}</form>`;
}

/** Reads what `printFormPost` printed; null for any other page. */
export function readFormPost(html: string): { action: URL; fields: URLSearchParams } | null {
  const action = /^<form method="post" action="([^"]*)" data-form-post>/.exec(html)?.[1];
  if (action === undefined) return null;
  const inputs = [...html.matchAll(/ name="([^"]*)" value="([^"]*)"/g)];
  const fields = inputs.map(([, name = "", value = ""]): [string, string] => [name, unescape(value)]);
  return { action: new URL(unescape(action)), fields: new URLSearchParams(fields) };
}
