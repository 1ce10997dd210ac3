import type { IncomingMessage, ServerResponse } from "node:http";
import { serve } from "./serve.ts";

export type Answer = (req: IncomingMessage, res: ServerResponse, url: URL) => void;

/** A program that rosters come from: answers by path, and remembers what it was asked for. */
export async function startSource(answers: Record<string, Answer> = {}) {
  const asked: { path: string; query: URLSearchParams; authorization: string | undefined; body: string }[] = [];
  const address = await serve((req, res) => {
    const url = new URL(req.url ?? "/", "http://source");
    let body = "";
    req.on("data", (chunk: Buffer) => (body += chunk.toString()));
    req.on("end", () => {
      asked.push({ path: url.pathname, query: url.searchParams, authorization: req.headers.authorization, body });
      const answer = answers[url.pathname];
      if (answer === undefined) res.writeHead(404).end();
      else answer(req, res, url);
    });
  });
  return { address, asked, answers };
}

export const json =
  (value: unknown, headers: Record<string, string> = {}): Answer =>
  (_req, res) =>
    res.writeHead(200, { "content-type": "application/json", ...headers }).end(JSON.stringify(value));
export const status =
  (code: number, headers: Record<string, string> = {}): Answer =>
  (_req, res) =>
    res.writeHead(code, headers).end();
export const text =
  (content: string | Buffer, headers: Record<string, string> = {}): Answer =>
  (_req, res) =>
    res.writeHead(200, headers).end(content);
/** Says that there is more than it sends. */
export const cut =
  (content: string): Answer =>
  (_req, res) => {
    res.writeHead(200, { "content-length": String(content.length + 100) });
    res.write(content, () => res.destroy());
  };

export type Pupil = { id: string; first: string; last: string; class: string; role?: "student" | "teacher" };

const slice = (list: readonly unknown[], url: URL) => {
  const [offset, limit] = [Number(url.searchParams.get("offset") ?? 0), Number(url.searchParams.get("limit") ?? 100)];
  return list.slice(offset, offset + limit);
};

/** The collections of a OneRoster API of one school. `pageSize` makes its pages smaller than asked for. */
export function oneRosterOf(
  pupils: readonly Pupil[],
  {
    version = "1.2",
    identifier = "DE-1",
    org = "org-1",
    pageSize = 10_000,
  }: { version?: "1.1" | "1.2"; identifier?: string; org?: string; pageSize?: number } = {},
): Record<string, Answer> {
  const base = version === "1.2" ? "/ims/oneroster/rostering/v1p2" : "/ims/oneroster/v1p1";
  const school = { sourcedId: org, type: "org" };
  const classes = [...new Set(pupils.map((one) => one.class))];
  const collections: Record<string, unknown[]> = {
    orgs: [{ sourcedId: org, status: "active", name: "Schule", type: "school", identifier }],
    users: pupils.map(({ id, first, last, role = "student" }) => ({
      sourcedId: id,
      status: "active",
      enabledUser: "true",
      givenName: first,
      familyName: last,
      ...(version === "1.2" ? { roles: [{ roleType: "primary", role, org: school }] } : { role, orgs: [school] }),
    })),
    classes: classes.map((title) => ({ sourcedId: `c-${title}`, title, classType: "homeroom", school })),
    enrollments: pupils.map(({ id, class: title, role = "student" }) => ({
      sourcedId: `e-${id}`,
      role,
      user: { sourcedId: id },
      class: { sourcedId: `c-${title}` },
      school,
    })),
  };
  return Object.fromEntries(
    Object.entries(collections).map(([name, list]): [string, Answer] => [
      `${base}/${name}`,
      (req, res, url) => {
        const limit = Math.min(pageSize, Number(url.searchParams.get("limit") ?? 100));
        url.searchParams.set("limit", String(limit));
        const offset = Number(url.searchParams.get("offset") ?? 0);
        const page = slice(list, url);
        const next =
          offset + page.length < list.length
            ? { link: `<?limit=${limit}&offset=${offset + page.length}>; rel="next"` }
            : {};
        json({ [name]: page }, { "x-total-count": String(list.length), ...next })(req, res, url);
      },
    ]),
  );
}

export const token: Answer = json({ access_token: "t-1", token_type: "Bearer", expires_in: 3600 });

export const pupilsOf = (count: number, { from = 0, class: name = "5a" } = {}): Pupil[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `p-${from + at}`,
    first: `Vorname${from + at}`,
    last: `Nachname${from + at}`,
    class: name,
  }));

/** The table that schools upload. */
export const csvOf = (pupils: readonly Pupil[]): string =>
  [
    "id;role;first_name;last_name;classes",
    ...pupils.map((one) => `${one.id};STUDENT;${one.first};${one.last};${one.class}`),
  ].join("\n");
