import { Marked, type Token, type Tokens } from "marked";
import { escapeHtml } from "../platform/pages/index.ts";

const languages: Readonly<Record<string, string>> = {
  bash: "curl",
  ts: "TypeScript",
  js: "JavaScript",
  python: "Python",
  php: "PHP",
};

export type Program = { language: string; code: string };

/** Changes the programs of a page; `after` is HTML. */
type OwnPrograms = { fill(program: Program): string; after(program: Program): string };

export const listPrograms = (text: string): Program[] =>
  new Marked()
    .lexer(text)
    .filter(isCode)
    .map((token) => ({ language: languageOf(token), code: token.text }))
    .filter(({ language }) => Object.hasOwn(languages, language));

const isCode = (token: Token): token is Tokens.Code => token.type === "code";
const languageOf = ({ lang = "" }: Tokens.Code): string => lang.split(" ")[0]!;

const slugOf = (text: string): string =>
  text
    .toLowerCase()
    .replaceAll(/[^\w\s-]/g, "")
    .trim()
    .replaceAll(/\s+/g, "-");

export const titleOf = (markdown: string): string => /^# (.+)$/m.exec(markdown)![1]!;

export const plainText = (markdown: string): string =>
  markdown
    .replaceAll(/^```.*$/gm, "")
    .replaceAll(/!?\[([^\]]*)\]\([^)]*\)/g, "$1")
    .replaceAll(/[`*]|^#+ |^[-\d]+\.? |^\|[-| ]+\|$/gm, "")
    .replaceAll(/\s*\|\s*|\s+/g, " ")
    .trim();

export const listHeadings = (text: string): { id: string; text: string }[] =>
  new Marked()
    .lexer(text)
    .flatMap((token) =>
      token.type === "heading" && token["depth"] === 2
        ? [{ id: slugOf(plainText(token["text"] as string)), text: plainText(token["text"] as string) }]
        : [],
    );

export function renderOnPage(text: string): string {
  const links = listHeadings(text).map(({ id, text: heading }) => `<li><a href="#${id}">${heading}</a></li>`);
  return links.length > 2 ? `<nav class="on-page" aria-label="On this page"><ul>${links.join("")}</ul></nav>` : "";
}

/**
 * Renders a guide. Consecutive code blocks of different languages become tabs; a block `output` is their common output.
 * Links to `name.md` lead to `/docs/name`. `own` leaves out the title and changes the programs.
 */
export function renderMarkdown(text: string, afterTitle = "", own?: OwnPrograms): string {
  const marked = new Marked();
  marked.use({
    renderer: {
      heading({ tokens, depth, text: heading }) {
        const content = this.parser.parseInline(tokens);
        if (depth === 1) return `${own === undefined ? `<h1>${content}</h1>` : ""}${afterTitle}`;
        return `<h${depth} id="${slugOf(plainText(heading))}">${content}</h${depth}>`;
      },
      code: (token) => renderCode(token, own),
      table(token) {
        const cells = (row: Tokens.TableCell[], tag: string) =>
          `<tr>${row.map(({ tokens }) => `<${tag}>${this.parser.parseInline(tokens)}</${tag.split(" ")[0]!}>`).join("")}</tr>`;
        const head = cells(token.header, 'th scope="col"');
        const body = token.rows.map((row) => cells(row, "td")).join("");
        const label = escapeHtml(token.header.map(({ text: title }) => plainText(title)).join(", "));
        return `<div class="scroll" tabindex="0" role="region" aria-label="${label}"><table><thead>${head}</thead><tbody>${body}</tbody></table></div>`;
      },
    },
  });
  let groups = 0;
  const parts = groupCode(marked.lexer(text)).map((part) =>
    Array.isArray(part) ? renderTabs(part, ++groups, own) : marked.parser([part]),
  );
  return parts
    .join("")
    .replaceAll('src="pictures/', 'src="/docs/pictures/')
    .replaceAll(/href="([\w.-]+)\.md(#[\w-]+)?"/g, 'href="/docs/$1$2"');
}

function groupCode(tokens: readonly Token[]): (Token | Tokens.Code[])[] {
  const parts: (Token | Tokens.Code[])[] = [];
  for (const token of tokens) {
    const before = parts.at(-1);
    if (token.type === "space") continue;
    if (!isCode(token) || !Object.hasOwn(languages, languageOf(token))) parts.push(token);
    else if (Array.isArray(before) && !before.some((other) => languageOf(other) === languageOf(token)))
      before.push(token);
    else parts.push([token]);
  }
  return parts;
}

function renderCode(token: Tokens.Code, own?: OwnPrograms): string {
  const program = { language: languageOf(token), code: token.text };
  const code = own?.fill(program) ?? token.text;
  const pre = `<pre tabindex="0"><code class="language-${program.language}">${escapeHtml(code)}\n</code></pre>`;
  const [, file] = / file=(\S+)/.exec(token.lang ?? "") ?? [];
  const figure = (kind: "output" | "file", caption: string, content: string) =>
    `<figure class="${kind}"><figcaption>${escapeHtml(caption)}</figcaption>${content}</figure>`;
  if (program.language === "output") return figure("output", "Output", pre);
  const snippet = `<div class="snippet">${pre}</div>`;
  return `${file === undefined ? snippet : figure("file", file, snippet)}${own?.after(program) ?? ""}`;
}

function renderTabs(blocks: Tokens.Code[], group: number, own?: OwnPrograms): string {
  if (blocks.length === 1) return renderCode(blocks[0]!, own);
  const labels = blocks.map((block, at) => {
    const language = languageOf(block);
    const input = `<input type="radio" name="tabs-${group}" value="${language}"${at === 0 ? " checked" : ""}>`;
    return `<label>${input}${languages[language]!}</label>`;
  });
  const panels = blocks.map((block) => `<div class="panel">${renderCode(block, own)}</div>`);
  return `<div class="tabs" role="group" aria-label="The same in several languages">${labels.join("")}${panels.join("")}</div>`;
}
