import { handCsv, makePage, type Download, type PageRequest, type PageView } from "../frame/index.ts";
import { showAppPage } from "./app-page.ts";

const kinds = {
  seats: { operation: "listSeats", columns: ["signedIn", "synced"] },
  reports: { operation: "listAccessReports", columns: ["school", "group", "singleUser", "none", "trial"] },
} as const;

const isMonth = /^20\d{2}-(0[1-9]|1[0-2])$/;

/** What is counted: of a school, of an app, or of all. */
function readAsked({ query, now, may }: PageRequest) {
  const kind = query("kind") === "reports" && may("listAccessReports") ? ("reports" as const) : ("seats" as const);
  return { kind, month: isMonth.test(query("month")) ? query("month") : now.toISOString().slice(0, 7), ...kinds[kind] };
}

const shownMonths = 24;

/** This month and those before it, newest first. */
const listMonths = (now: Date): string[] =>
  Array.from({ length: shownMonths }, (_, back) =>
    new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 7),
  );

type Counted = { clientId: string; appName: string; schoolId: string; schoolName: string } & Record<
  string,
  string | number
>;

async function readCounts(request: PageRequest, filter: { limit?: number; cursor?: string | null } = {}) {
  const { path } = request;
  const { operation, month } = readAsked(request);
  const { items, ...pages } = await request.list(operation, {
    query: { school: path.schoolId, app: path.clientId, month, ...filter },
  });
  return { items: items as Counted[], ...pages };
}

export async function showUsage(request: PageRequest): Promise<PageView> {
  const { t, path, may, base } = request;
  const { kind, month, columns } = readAsked(request);
  const { items, more } = await readCounts(request);
  const model = {
    kind,
    month,
    columns,
    counts: items,
    more,
    months: [...new Set([...listMonths(request.now), month])],
    file: `${base}/file?${new URLSearchParams({ kind, month }).toString()}`,
    ofAll: path.clientId === undefined,
    ofSchool: path.schoolId !== undefined,
    hasReports: may("listAccessReports"),
  };
  if (model.ofSchool) return makePage("usage", t("usage.ofSchool"), model);
  return model.ofAll ? makePage("usage", t("usage.all"), model) : showAppPage(request, "usage", model);
}

const ofPlace = ["month", "clientId", "appName", "schoolId", "schoolName"] as const;

export function handUsage(request: PageRequest): Promise<Download> {
  const { kind, month, columns } = readAsked(request);
  return handCsv(request, {
    name: request.t("usage.fileName", { kind, month }),
    columns: [...ofPlace, ...columns].map((key) => ({ key, header: key })),
    async readPage(cursor) {
      const { items, next } = await readCounts(request, { limit: 250, cursor });
      return { rows: items, next };
    },
  });
}
