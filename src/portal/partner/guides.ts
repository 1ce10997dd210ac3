import type { AppGuides, OwnValues } from "../../publish/index.ts";
import type { AdminSchemas } from "../../admin/index.ts";
import { Refused, take, type Shown, type Visit } from "../frame/index.ts";
import { addressOf, appPath, clientIdOf, readApp, refuseOtherApp, showAppPage, type App } from "./place.ts";

export type { AppGuides };

type Answer = AdminSchemas["AppAnswer"];
type Sandbox = AdminSchemas["Sandbox"];
type Read = { id: string; name: object | null; role?: string };

const mostText = 6_000;
const [schoolOfDemo, otherSchoolOfDemo] = [1, 4].map((n) => `a0000000-0000-4000-8000-00000000000${n}`) as [
  string,
  string,
];
const [pupil, otherPupil, withoutName, noPupil] = [1, 2, 3, 8].map(
  (n) => `c0000000-0000-4000-8000-00000000000${n}`,
) as [string, string, string, string];

const readAnswer = (visit: Visit, path: string): Promise<Answer> =>
  take(visit.api.GET("/admin/v1/apps/{clientId}/answer", { params: { path: appPath(visit), query: { path } } }));

async function readPeople(visit: Visit, path: string): Promise<Read[]> {
  const { body, status } = await readAnswer(visit, path);
  return status === 200 && body !== null ? (JSON.parse(body) as Read[]) : [];
}

/** The schools and people of a sandbox that take the place of those of the demo world. */
async function listSandboxIds(
  visit: Visit,
  { schools }: Sandbox,
  asked: readonly string[],
): Promise<[string, string][]> {
  const main = schools.find(({ officialId }) => officialId.endsWith("-main")) ?? schools[0]!;
  const second = schools.find(({ id }) => id !== main.id) ?? main;
  const ofSchools: [string, string][] = [
    [schoolOfDemo, main.id],
    [otherSchoolOfDemo, second.id],
  ];
  if (!asked.some((id) => id.startsWith("c"))) return ofSchools;
  const [people, users] = await Promise.all([
    readPeople(visit, `/idm/ep/v1/schools/${main.id}/people`),
    readPeople(visit, `/idm/ep/v1/schools/${second.id}/users`),
  ]);
  const active = people.filter(({ name, role }) => name !== null && role === "STUDENT");
  const found: [string, Read | undefined][] = [
    [pupil, active[0]],
    [otherPupil, active[0]],
    [withoutName, people.find(({ name }) => name === null)],
    [noPupil, users.find(({ role }) => role === "OTHER")],
  ];
  return [
    ...ofSchools,
    ...found.flatMap(([demo, own]): [string, string][] => (own === undefined ? [] : [[demo, own.id]])),
  ];
}

/** The first school that shares data with the app takes the place of the demo world's, where there is no sandbox. */
async function listGrantedIds(visit: Visit): Promise<[string, string][]> {
  const query = { app: clientIdOf(visit), limit: 50 };
  const grants = await take(visit.api.GET("/admin/v1/grants", { params: { query } }));
  const school = grants.find(({ sync }) => sync)?.schoolId;
  return school === undefined ? [] : [[schoolOfDemo, school]];
}

type Ran = { number: number; answer: Answer };

/** The pages of the guides for an app, with its own ids in their programs. */
export function makeGuidePages(guides: AppGuides) {
  const docsOf = (visit: Visit) => `${addressOf(visit)}/docs`;

  function listContents(visit: Visit) {
    const isGuide = (path: string) => guides.findTitle(path.replace("/docs/", "")) !== null;
    return guides.contents.map(({ title, pages }) => ({
      title,
      pages: pages.map((page) => ({
        ...page,
        path: isGuide(page.path) ? page.path.replace("/docs", () => docsOf(visit)) : page.path,
      })),
    }));
  }

  const nameOf = (visit: Visit): string => {
    const name = visit.part("guide");
    if (guides.findTitle(name) === null) throw new Refused(404, { code: "path_not_found" });
    return name;
  };

  async function readOwn(visit: Visit): Promise<{ app: App; sandbox: Sandbox | undefined; own: OwnValues }> {
    const [app, [sandbox]] = await Promise.all([
      readApp(visit),
      take(visit.api.GET("/admin/v1/sandboxes", { params: { query: { app: clientIdOf(visit), limit: 1 } } })),
    ]);
    const asked = guides.listDemoIds(nameOf(visit));
    const isAsked = asked.length > 0 && app.type === "CONFIDENTIAL";
    const ids = !isAsked
      ? []
      : await (sandbox === undefined ? listGrantedIds(visit) : listSandboxIds(visit, sandbox, asked));
    const { clientId, redirectUris, loginUrl } = app;
    return { app, sandbox, own: { clientId, redirectUri: redirectUris[0] ?? null, loginUrl, ids: new Map(ids) } };
  }

  async function show(visit: Visit, run?: (own: OwnValues) => Promise<Ran>): Promise<Shown> {
    refuseOtherApp(visit);
    const name = nameOf(visit);
    const { app, sandbox, own } = await readOwn(visit);
    const ran = (await run?.(own)) ?? null;
    const canRun = app.type === "CONFIDENTIAL";
    const hasCalls = guides.listCalls(name, own).length > 0;
    const address = docsOf(visit);
    const model = {
      ran: ran && { ...ran, ...describe(ran.answer) },
      canRun,
      hasCalls,
      own,
      hasSandbox: sandbox !== undefined,
      issuer: guides.issuerUrl,
      contents: listContents(visit),
      here: `${address}/${name}`,
      article: (afterCall: (call: string, number: number) => string) =>
        guides.render(name, { own, address, afterCall: canRun ? afterCall : () => "" }),
    };
    const title = guides.findTitle(name)!;
    return showAppPage(visit, { app, page: "docs", view: "guide", title, model, assets: guides.assets });
  }

  return {
    async listGuides(visit: Visit): Promise<Shown> {
      const model = { contents: listContents(visit) };
      return showAppPage(visit, { app: await readApp(visit), page: "docs", view: "guides", model });
    },
    showGuide: (visit: Visit): Promise<Shown> => show(visit),
    /** Calls, as the app, the address that a program of the page reads. */
    runCall: (visit: Visit): Promise<Shown> =>
      show(visit, async (own) => {
        const number = Number(visit.part("number"));
        const path = guides.listCalls(nameOf(visit), own)[number - 1];
        if (path === undefined) throw new Refused(404, { code: "path_not_found" });
        return { number, answer: await readAnswer(visit, path) };
      }),
  };
}

/** An answer as the page shows it. */
function describe({ status, contentType, etag, link, body }: Answer): {
  head: string;
  text: string | null;
  isCut: boolean;
} {
  const headers = { "Content-Type": contentType, ETag: etag, Link: link };
  const lines = Object.entries(headers).flatMap(([name, value]) =>
    value === null || value === "" ? [] : `${name}: ${value}`,
  );
  const text = body === null ? null : format(body);
  return {
    head: [`HTTP/1.1 ${status}`, ...lines].join("\n"),
    text: text?.slice(0, mostText) ?? null,
    isCut: (text?.length ?? 0) > mostText,
  };
}

function format(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2);
  } catch {
    return body;
  }
}
