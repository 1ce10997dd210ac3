import { join } from "node:path";
import { addAsset, addPackageAsset, locales, makeTemplates, renderPage } from "../../platform/pages/index.ts";
import type { Locale, Page, Render, Translate } from "../../platform/pages/index.ts";
import type { OperationId } from "../../admin/index.ts";
import type { PageView } from "./area.ts";
import type { Typed } from "./form.ts";
import { listPages, type CurrentPage } from "./navigation.ts";
import { choiceOf, makeFields, type Choice } from "./fields.ts";
import type { Refused } from "./calls.ts";
import { describeViewChange, firstText } from "./describe.ts";
import { hasManySchools, type PageRequest } from "./page-request.ts";
import { html, tableOf, type Markup, type TableOptions } from "./table.ts";

const render = makeTemplates(join(import.meta.dirname, "templates"));
const style = addAsset(join(import.meta.dirname, "portal.css"));
const scripts = [addPackageAsset("htmx.org", "dist/htmx.min.js"), addAsset(join(import.meta.dirname, "portal.js"))];

export type Framed = { token: string; render: Render; page: CurrentPage };

/** Renders an area's content with navigation and messages; without content the page shows only the refusal. */
export function renderFramed(
  request: PageRequest,
  shown: PageView | null,
  { token, render: renderView, page }: Framed,
): Page {
  const { t, locale, refused } = request;
  const schoolId = shown === null ? null : request.param("schoolId") || null;
  const current = shown === null ? null : shown.page === undefined ? page : shown.page;
  const parts = partsOf(shown?.dropsTyped === true ? { ...request, typed: {} } : request, token);
  const content = shown === null ? "" : renderContent(request, shown, { parts, renderView });
  const problem = renderProblem(parts);
  const title = shown?.title ?? t("frame.refused.title");
  const body =
    refused?.code === "form_not_recognised"
      ? render("resend", { ...parts, fields: fieldsOf(request.typed), path: request.req.originalUrl })
      : render("page", {
          ...parts,
          title,
          problem,
          content,
          done: doneOf(request),
          school: schoolId === null ? null : request.school,
        });
  return renderPage(
    {
      title: titleOf(title, request),
      body,
      width: "page",
      stylesheets: [style, ...(shown?.assets?.stylesheets ?? [])],
      scripts: [...scripts, ...(shown?.assets?.scripts ?? [])],
      status: refused?.status ?? shown?.status ?? 200,
      navigation: render("navigation", {
        ...parts,
        pages: listPages(request, schoolId, current),
        person: request.me.name === null ? "" : `${request.me.name.firstCall} ${request.me.name.last}`,
        manySchools: hasManySchools(request),
        // A refused form leads to no other.
        hasContent: shown !== null,
      }),
    },
    { locale, languageUrl: languageUrlOf(request) },
  );
}

/** A page for somebody without an account, who comes with a link. */
export type LinkRequest = Pick<
  PageRequest,
  "req" | "t" | "locale" | "times" | "now" | "typed" | "field" | "query" | "refused"
> & {
  idempotencyKey: string;
};

/** Renders a page without navigation. `place` is the line above the title. */
export function renderForLink(
  request: LinkRequest,
  shown: PageView & { place?: string | null; headers?: Record<string, string> },
  { token, render: renderView }: Pick<Framed, "token" | "render">,
): Page {
  const { locale, refused } = request;
  const parts = partsOf(request, token);
  const content = renderContent(request, shown, { parts, renderView });
  const problem = renderProblem(parts);
  const body = render("link-page", { ...parts, title: shown.title, problem, content, place: shown.place ?? null });
  const { headers = {} } = shown;
  const status = refused?.status ?? shown.status ?? 200;
  return renderPage(
    { title: titleOf(shown.title, request), body, width: "page", stylesheets: [style], scripts, status, headers },
    { locale, languageUrl: languageUrlOf(request) },
  );
}

/** The title of a refused form says so, because it is read first. */
const titleOf = (title: string, { refused, t }: LinkRequest): string =>
  refused === null ? title : t("frame.refused.titled", { title });

type NameOf = (value: string | number) => string;
type PartsOfPage = ReturnType<typeof partsOf>;

/** What each template can use. */
function partsOf(request: LinkRequest, token: string) {
  const { t, locale, times, refused, now, idempotencyKey } = request;
  const { begin, ...fields } = makeFields(request, render);
  const parts = {
    t,
    locale,
    ...times,
    refused,
    now,
    ...fields,
    /** The hidden fields of a form, whose other fields belong to these operations. */
    form(hidden: Record<string, string | number> = {}, ...operations: OperationId[]) {
      begin(operations, hidden["form"]);
      return render("form", { fields: { token, once: idempotencyKey, ...hidden } });
    },
    /** For the template `view-changes`. */
    describeViewChange: (change: Parameters<typeof describeViewChange>[0]) => describeViewChange(change, { t, locale }),
    scopeText: (scope: string) => t(`scope.${scope.replace(":", "_")}`),
    partial: (name: string, data?: object): string => render(name, { ...data, ...parts }),
    html,
    /** What a partial or a field draws, for a cell of a table. */
    markup: (markup: string): Markup => ({ markup }),
    table: <Row>(options: TableOptions<Row>): string => render("table", { ...tableOf(options), ...parts }),
    options: (all: readonly Choice[], chosen?: unknown, nameOf?: NameOf) =>
      render("options", { all: all.map((one) => choiceOf(one, nameOf)), chosen }),
    radios(field: string, all: readonly Choice[], chosen: unknown, nameOf: NameOf) {
      const [fault, wrong] = [fields.fault(field), fields.wrong(field)];
      return render("radios", { field, all: all.map((one) => choiceOf(one, nameOf)), chosen, fault, wrong });
    },
  };
  return parts;
}

const renderProblem = (parts: PartsOfPage): string =>
  parts.refused === null
    ? ""
    : render("problem", { ...parts, ...describe(parts.refused, parts.t), faults: parts.faults() });

function renderContent(
  request: LinkRequest & Partial<Pick<PageRequest, "may" | "at" | "path" | "base">>,
  { view, model }: PageView,
  { parts, renderView }: { parts: PartsOfPage; renderView: Render },
): string {
  const { field, query, may, at, path, base } = request;
  const shared = { ...parts, typed: field, query, may, at, path, base };
  const fragment = (name: string, data: object = {}): string =>
    renderView(name, { ...shared, ...model, fragment, ...data });
  return fragment(view);
}

/** Shown if the session ended while the person typed; keeps their input. */
export function renderSessionEnded(
  sent: { path: string; typed: Typed },
  { locale, t }: { locale: Locale; t: Translate },
): Page {
  const title = t("frame.ended.title");
  const body = render("ended", { t, locale, title, form: () => "", path: sent.path, fields: fieldsOf(sent.typed) });
  return renderPage({ title, body, status: 401, width: "narrow", stylesheets: [style] }, { locale });
}

/** The fields to send again; a secret must be typed again, so that no page contains it. */
const fieldsOf = ({ secret: _, ...typed }: Typed): { name: string; value: string }[] =>
  Object.entries(typed).flatMap(([name, values]) => values.map((value) => ({ name, value })));

function describe({ code, status, requestId, message }: Refused, t: Translate): Record<string, string> {
  const known = [`problems.${code}`, `problems.status_${status}`, "problems.other"];
  return { message: firstText(t, known), answered: message, requestId };
}

/** The message of a completed action; "" if the address names an unknown one. */
function doneOf({ query, t }: PageRequest): string {
  const [done, count] = [query("done"), query("count")];
  if (!/^[a-zA-Z]{1,40}$/.test(done)) return "";
  return firstText(t, [`done.${done}`], { count: /^\d{1,9}$/.test(count) ? Number(count) : 0 });
}

/** This page in another language; null after a form, because its address cannot be requested by GET. */
function languageUrlOf({ req }: Pick<PageRequest, "req">): ((locale: Locale) => string) | null {
  if (req.method !== "GET") return null;
  const url = new URL(req.originalUrl, "http://here");
  for (const name of ["done", "count"]) url.searchParams.delete(name);
  return (locale) => {
    url.searchParams.set("lang", locales.includes(locale) ? locale : "de");
    return url.pathname + url.search;
  };
}
