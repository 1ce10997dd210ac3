import { listReferences } from "./documents.ts";
import { listGuides, type GuideSettings } from "./guides.ts";
import { listPrograms, renderMarkdown, renderOnPage, type Program } from "./markdown.ts";
import { guideAssets, listContents, type Contents } from "./pages.ts";

/** Values of an app for the programs in the guides; null keeps the example. `ids` maps ids of the demo world. */
export type OwnValues = {
  clientId: string;
  redirectUri: string | null;
  loginUrl: string | null;
  ids: ReadonlyMap<string, string>;
};

type Filling = { own: OwnValues; address: string; afterCall(call: string, number: number): string };

export type AppGuides = {
  issuerUrl: string;
  assets: { stylesheets: readonly string[]; scripts: readonly string[] };
  contents: Contents;
  findTitle(name: string): string | null;
  listDemoIds(name: string): string[];
  listCalls(name: string, own: OwnValues): string[];
  render(name: string, filling: Filling): string;
};

const demoId = /\b[abc]0000000-0000-4000-8000-\d{12}\b/g;

/** Never fills in the secret. */
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
  // Other languages read it from a variable.
  return ["js", "ts", "python", "php"].includes(language) ? filled : filled.replaceAll("$CLIENT_ID", () => clientId);
}

/** The path and query of a program that is a single authorized curl; else null. */
function findCall({ language, code }: Program, baseUrl: string): string | null {
  if (language !== "bash" || code.split("curl ").length !== 2 || / -(?:d|X|u) |If-None-Match/.test(code)) return null;
  if (!code.includes('"Authorization: Bearer $TOKEN"')) return null;
  const [, address = ""] = /(https?:\/\/[^\s"'|)]+)/.exec(code) ?? [];
  if (address.includes("$") || !["idm", "ims"].some((api) => address.startsWith(`${baseUrl}/${api}/`))) return null;
  return address.slice(baseUrl.length);
}

export function makeAppGuides(place: GuideSettings): AppGuides {
  const { baseUrl, issuerUrl } = place;
  const guides = new Map(listGuides(place).map((guide) => [guide.name, guide]));
  const textOf = (name: string) => guides.get(name)?.text ?? "";
  const names = [...guides.keys()].join("|");
  const links = new RegExp(`href="/docs/(${names})(["#])`, "g");
  return {
    issuerUrl,
    assets: guideAssets,
    contents: listContents([...guides.values()], listReferences()),
    findTitle: (name) => guides.get(name)?.title ?? null,
    listDemoIds: (name) => [
      ...new Set(listPrograms(textOf(name)).flatMap(({ code }) => [...code.matchAll(demoId)].map(([id]) => id))),
    ],
    listCalls: (name, own) =>
      listPrograms(textOf(name)).flatMap(
        ({ language, code }) => findCall({ language, code: fill({ language, code }, own) }, baseUrl) ?? [],
      ),
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
