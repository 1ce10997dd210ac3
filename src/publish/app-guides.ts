import { loadPublishedDocuments } from "./documents.ts";
import { listGuides, type GuideSettings } from "./guides.ts";
import { listPrograms, renderMarkdown, renderOnPage, type Program } from "./markdown.ts";
import { guideAssets, listContents, type Contents } from "./pages.ts";

/**
 * What is filled into the programs of the guides for an app.
 *
 * Shape: null leaves what the page shows; `ids` are ids by those of the demo world.
 */
export type OwnValues = {
  clientId: string;
  redirectUri: string | null;
  loginUrl: string | null;
  ids: ReadonlyMap<string, string>;
};

/** Shape: `address` is that of the guides of the app; `afterCall` makes HTML below a program that reads `call`. */
type Filling = { own: OwnValues; address: string; afterCall(call: string, number: number): string };

export type AppGuides = {
  issuerUrl: string;
  assets: { stylesheets: readonly string[]; scripts: readonly string[] };
  contents: Contents;
  /** The title of a guide; null where there is none. */
  findTitle(name: string): string | null;
  /** The ids of the demo world in the programs of a guide. */
  listDemoIds(name: string): string[];
  /** The addresses that the programs of a guide read, in the order of the page: path and query. */
  listCalls(name: string, own: OwnValues): string[];
  /** Shape: HTML without a title; links to other guides lead to `<address>/<name>`. */
  render(name: string, filling: Filling): string;
};

const demoId = /\b[abc]0000000-0000-4000-8000-\d{12}\b/g;

/** Fills what an app has of its own into a program; its secret never. */
function fill({ language, code }: Program, { clientId, redirectUri, loginUrl, ids }: OwnValues): string {
  if (language === "output") return code;
  const filled = code
    .replaceAll(demoId, (id) => ids.get(id) ?? id)
    .replaceAll(/\bdemo-\w+-secret-\w+/g, "…")
    .replaceAll(/(["'])http:\/\/(?:localhost|127\.0\.0\.1):\d+\/callback\1/g, (whole) =>
      redirectUri === null ? whole : JSON.stringify(redirectUri),
    )
    .replaceAll(/--redirect-uri \S+/g, (whole) => (redirectUri === null ? whole : `--redirect-uri '${redirectUri}'`))
    .replaceAll(/--login-url \S+/g, (whole) => (loginUrl === null ? whole : `--login-url '${loginUrl}'`))
    .replaceAll(/\bdemo-(?:lernapp|spa)\b/g, () => clientId)
    .replace(/const \{ CLIENT_ID, (CLIENT_SECRET \} = process\.env;)/, (_whole, secret: string) =>
      [`const CLIENT_ID = "${clientId}";`, `const { ${secret}`].join("\n"),
    )
    .replaceAll(/process\.env\.CLIENT_ID!?/g, () => `"${clientId}"`)
    .replaceAll(
      /(?:os\.environ\[|getenv\()(["'])CLIENT_ID\1[\])]/g,
      (_whole, quote: string) => quote + clientId + quote,
    );
  // In the others it is a variable of the program.
  return ["js", "ts", "python", "php"].includes(language) ? filled : filled.replaceAll("$CLIENT_ID", () => clientId);
}

/**
 * The address that a program reads with curl and a token of the app, if it does just that.
 *
 * Shape: path and query as the contract has them; null for every other program.
 */
function findCall({ language, code }: Program, baseUrl: string): string | null {
  if (language !== "bash" || code.split("curl ").length !== 2 || / -(?:d|X|u) |If-None-Match/.test(code)) return null;
  if (!code.includes('"Authorization: Bearer $TOKEN"')) return null;
  const [, address = ""] = /(https?:\/\/[^\s"'|)]+)/.exec(code) ?? [];
  if (address.includes("$") || !address.startsWith(`${baseUrl}/idm/`)) return null;
  return address.slice(baseUrl.length);
}

/** The guides as the team of an app sees them, who are signed in. */
export function makeAppGuides(place: GuideSettings): AppGuides {
  const { baseUrl, issuerUrl } = place;
  const guides = new Map(listGuides(place).map((guide) => [guide.name, guide]));
  const textOf = (name: string) => guides.get(name)?.text ?? "";
  const names = [...guides.keys()].join("|");
  const links = new RegExp(`href="/docs/(${names})(["#])`, "g");
  return {
    issuerUrl,
    assets: guideAssets,
    contents: listContents([...guides.values()], loadPublishedDocuments(place)),
    findTitle: (name) => guides.get(name)?.title ?? null,
    listDemoIds: (name) => [
      ...new Set(listPrograms(textOf(name)).flatMap(({ code }) => [...code.matchAll(demoId)].map(([id]) => id))),
    ],
    listCalls: (name, own) =>
      listPrograms(textOf(name)).flatMap(({ language, code }) => {
        const call = findCall({ language, code: fill({ language, code }, own) }, baseUrl);
        return call ?? [];
      }),
    render(name, { own, address, afterCall }) {
      let number = 0;
      const text = textOf(name);
      const html = renderMarkdown(text, renderOnPage(text), {
        fill: (program) => fill(program, own),
        after(program) {
          const call = findCall({ ...program, code: fill(program, own) }, baseUrl);
          return call === null ? "" : afterCall(call, ++number);
        },
      });
      return html.replaceAll(links, (_whole, guide: string, end: string) => `href="${address}/${guide}${end}`);
    },
  };
}
