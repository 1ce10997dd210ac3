import { join } from "node:path";
import { Router } from "express";
import { marked } from "marked";
import { makeTemplates } from "../platform/pages/index.ts";
import { readChangelog, type ChangelogEntry, type ChangelogRelease } from "./changelog.ts";
import type { RenderArticle } from "./guides.ts";
import { answerStatic } from "./static-answer.ts";

const render = makeTemplates(join(import.meta.dirname, "templates"));

function present({ what, who, action, ...rest }: ChangelogEntry) {
  const inline = (text: string) => marked.parseInline(text, { async: false });
  const isIdle = action === "nothing";
  return { ...rest, what: inline(what), who: inline(who), action: inline(action), isIdle };
}

const arrange = (entries: ChangelogEntry[]) =>
  entries.map(present).toSorted((a, b) => Number(a.isIdle) - Number(b.isIdle));

/** Serves the changelog at `/docs/changelog`, and an Atom feed (RFC 4287) of the releases. */
export function makeChangelogRouter({
  issuerUrl,
  renderArticle,
}: {
  issuerUrl: string;
  renderArticle: RenderArticle;
}): Router {
  const { next, releases } = readChangelog();
  const values = {
    next: arrange(next),
    releases: releases.map((release) => ({ ...release, entries: arrange(release.entries) })),
  };
  const html = render("changelog", values);
  const { headers, ...page } = renderArticle({ path: "/docs/changelog", title: "Changelog of the contract", html });
  const router = Router();
  router.get("/docs/changelog", answerStatic(page.html, { contentType: "text/html; charset=utf-8", headers }));
  router.get(
    "/docs/changelog.atom",
    answerStatic(makeFeed(releases, issuerUrl), { contentType: "application/atom+xml; charset=utf-8" }),
  );
  return router;
}

const escapes: Record<string, string> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;" };
const escape = (text: string): string => text.replace(/[&<>"]/g, (sign) => escapes[sign]!);

function makeFeed(releases: ChangelogRelease[], issuerUrl: string): string {
  const page = `${issuerUrl}/docs/changelog`;
  const entries = releases.map(({ version, date, entries }) => {
    const items = arrange(entries).map(
      ({ contracts, what, who, action, isIdle, until }) =>
        `<li>${contracts.join(", ")}: ${what}` +
        `${isIdle ? "" : ` ${who} ${action}`}${until === undefined ? "" : ` Until ${until}.`}</li>`,
    );
    return (
      `<entry><id>${escape(page)}#v${version}</id><title>Contract ${version}</title>` +
      `<link href="${escape(page)}#v${version}"/><updated>${date}T00:00:00Z</updated>` +
      `<content type="html">${escape(`<ul>${items.join("")}</ul>`)}</content></entry>`
    );
  });
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><id>${escape(page)}</id>` +
    `<title>Changelog of the contract</title><author><name>${escape(new URL(issuerUrl).host)}</name></author>` +
    `<link href="${escape(page)}"/><link rel="self" href="${escape(page)}.atom"/>` +
    `<updated>${releases[0]!.date}T00:00:00Z</updated>${entries.join("")}</feed>\n`
  );
}
