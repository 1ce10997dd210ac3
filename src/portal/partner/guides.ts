import type { AppGuides, OwnValues } from "../../publish/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, type PageView, type PageRequest } from "../frame/index.ts";
import { app as addressOfApp, showAppPage, type App } from "./app-page.ts";
import { indentJson } from "./webhooks.ts";

export type { AppGuides };

type Answer = AdminSchemas["AppAnswer"];
type Sandbox = AdminSchemas["Sandbox"];
type Read = { id: string; name: object | null; role?: string };

const mostText = 6_000;
const demoId = (kind: "a" | "c", number: number) => `${kind}0000000-0000-4000-8000-00000000000${number}`;

async function readPeople(request: PageRequest, path: string): Promise<Read[]> {
  const { body, status } = await request.call("getAppAnswer", { query: { path } });
  return status === 200 && body !== null ? (JSON.parse(body) as Read[]) : [];
}

/** Maps ids of the demo world to those of the sandbox. */
async function listSandboxIds(
  request: PageRequest,
  { schools }: Sandbox,
  wanted: readonly string[],
): Promise<[string, string][]> {
  const main = schools.find(({ officialId }) => officialId.endsWith("-main")) ?? schools[0]!;
  const second = schools.find(({ id }) => id !== main.id) ?? main;
  const ofSchools: [string, string][] = [
    [demoId("a", 1), main.id],
    [demoId("a", 4), second.id],
  ];
  if (!wanted.some((id) => id.startsWith("c"))) return ofSchools;
  const [people, users] = await Promise.all([
    readPeople(request, `/idm/ep/v1/schools/${main.id}/people`),
    readPeople(request, `/idm/ep/v1/schools/${second.id}/users`),
  ]);
  const active = people.filter(({ name, role }) => name !== null && role === "STUDENT");
  const samples: [string, Read | undefined][] = [
    [demoId("c", 1), active[0]],
    [demoId("c", 2), active[0]],
    [demoId("c", 3), people.find(({ name }) => name === null)],
    [demoId("c", 8), users.find(({ role }) => role === "OTHER")],
  ];
  return [
    ...ofSchools,
    ...samples.flatMap(([demo, own]): [string, string][] => (own === undefined ? [] : [[demo, own.id]])),
  ];
}

/** Maps the demo school to the first school that syncs to the app, if there is no sandbox. */
async function listGrantedIds(request: PageRequest): Promise<[string, string][]> {
  const grants = await request.call("listGrants", { query: { app: request.path.clientId, limit: 50 } });
  const school = grants.find(({ sync }) => sync)?.schoolId;
  return school === undefined ? [] : [[demoId("a", 1), school]];
}

/** Makes the pages of the guides with the app's own ids in their examples. */
export function makeGuidePages(guides: AppGuides) {
  const docsOf = (request: PageRequest) => request.at(`${addressOfApp}/docs`);

  function listContents(request: PageRequest) {
    const isGuide = (path: string) => guides.findTitle(path.replace("/docs/", "")) !== null;
    return guides.contents.map(({ title, pages }) => ({
      title,
      pages: pages.map((page) => ({
        ...page,
        path: isGuide(page.path) ? page.path.replace("/docs", () => docsOf(request)) : page.path,
      })),
    }));
  }

  const guideNameOf = (request: PageRequest): string => {
    const name = request.param("guide");
    if (guides.findTitle(name) === null) throw new Refused(404, { code: "path_not_found" });
    return name;
  };

  async function readOwn(request: PageRequest): Promise<{ app: App; sandbox: Sandbox | undefined; own: OwnValues }> {
    const [app, [sandbox]] = await Promise.all([
      request.call("getApp"),
      request.call("listSandboxes", { query: { app: request.path.clientId, limit: 1 } }),
    ]);
    const wanted = guides.listDemoIds(guideNameOf(request));
    const isAsked = wanted.length > 0 && app.type === "CONFIDENTIAL";
    const ids = !isAsked
      ? []
      : await (sandbox === undefined ? listGrantedIds(request) : listSandboxIds(request, sandbox, wanted));
    const { clientId, redirectUris, loginUrl } = app;
    return { app, sandbox, own: { clientId, redirectUri: redirectUris[0] ?? null, loginUrl, ids: new Map(ids) } };
  }

  async function show(request: PageRequest, run?: (own: OwnValues) => Promise<{ number: number; answer: Answer }>) {
    const name = guideNameOf(request);
    const { app, sandbox, own } = await readOwn(request);
    const ran = (await run?.(own)) ?? null;
    const canRun = app.type === "CONFIDENTIAL";
    const hasCalls = guides.listCalls(name, own).length > 0;
    const address = docsOf(request);
    const model = {
      app,
      ran: ran && { ...ran, ...describe(ran.answer) },
      canRun,
      hasCalls,
      own,
      hasSandbox: sandbox !== undefined,
      issuer: guides.issuerUrl,
      contents: listContents(request),
      article: (afterCall: (call: string, number: number) => string) =>
        guides.render(name, { own, address, afterCall: canRun ? afterCall : () => "" }),
    };
    const title = guides.findTitle(name)!;
    return showAppPage(request, "docs", model, { view: "guide", title, assets: guides.assets });
  }

  return {
    async listGuides(request: PageRequest): Promise<PageView> {
      return showAppPage(request, "docs", { contents: listContents(request) });
    },
    showGuide: (request: PageRequest): Promise<PageView> => show(request),
    /** Calls an address of an example as the app. */
    runCall: (request: PageRequest): Promise<PageView> =>
      show(request, async (own) => {
        const number = Number(request.param("number"));
        const path = guides.listCalls(guideNameOf(request), own)[number - 1];
        if (path === undefined) throw new Refused(404, { code: "path_not_found" });
        return { number, answer: await request.call("getAppAnswer", { query: { path } }) };
      }),
  };
}

function describe({ status, contentType, etag, link, body }: Answer) {
  const lines = Object.entries({ "Content-Type": contentType, ETag: etag, Link: link }).flatMap(([name, value]) =>
    value === null || value === "" ? [] : `${name}: ${value}`,
  );
  const text = body === null ? null : indentJson(body);
  return {
    head: [`HTTP/1.1 ${status}`, ...lines].join("\n"),
    text: text?.slice(0, mostText) ?? null,
    isCut: (text?.length ?? 0) > mostText,
  };
}
