import { Router } from "express";
import { marked } from "marked";
import { escapeHtml } from "../platform/pages/index.ts";
import { readChangelog, type ChangelogEntry, type ChangelogRelease } from "./documents.ts";
import type { RenderArticle } from "./guides.ts";
import { render } from "./pages.ts";
import { answerPage, answerStatic } from "./static-answer.ts";

function present({ what, who, action, ...rest }: ChangelogEntry) {
  const inline = (text: string) => marked.parseInline(text, { async: false });
  const isIdle = action === "nothing";
  return { ...rest, what: inline(what), who: inline(who), action: inline(action), isIdle };
}

const arrange = (entries: ChangelogEntry[]) =>
  entries.map(present).toSorted((a, b) => Number(a.isIdle) - Number(b.isIdle));

type Settings = { issuerUrl: string; renderArticle: RenderArticle };

/** Serves the changelog at `/docs/changelog`, and an Atom feed (RFC 4287) of the releases. */
export function makeChangelogRouter({ issuerUrl, renderArticle }: Settings): Router {
  const { next, releases } = readChangelog();
  const values = {
    next: arrange(next),
    releases: releases.map((release) => ({ ...release, entries: arrange(release.entries) })),
  };
  const html = render("changelog", values);
  const router = Router();
  const page = renderArticle({ path: "/docs/changelog", title: "Changelog of the contract", html });
  router.get("/docs/changelog", answerPage(page));
  router.get(
    "/docs/changelog.atom",
    answerStatic(makeFeed(releases, issuerUrl), { contentType: "application/atom+xml; charset=utf-8" }),
  );
  return router;
}

function makeFeed(releases: ChangelogRelease[], issuerUrl: string): string {
  const page = `${issuerUrl}/docs/changelog`;
  const entries = releases.map(({ version, date, entries }) => {
    const items = arrange(entries).map(
      ({ contracts, what, who, action, isIdle, until }) =>
        `<li>${contracts.join(", ")}: ${what}` +
        `${isIdle ? "" : ` ${who} ${action}`}${until === undefined ? "" : ` Until ${until}.`}</li>`,
    );
    return (
      `<entry><id>${escapeHtml(page)}#v${version}</id><title>Contract ${version}</title>` +
      `<link href="${escapeHtml(page)}#v${version}"/><updated>${date}T00:00:00Z</updated>` +
      `<content type="html">${escapeHtml(`<ul>${items.join("")}</ul>`)}</content></entry>`
    );
  });
  return (
    `<?xml version="1.0" encoding="utf-8"?>\n<feed xmlns="http://www.w3.org/2005/Atom"><id>${escapeHtml(page)}</id>` +
    `<title>Changelog of the contract</title><author><name>${escapeHtml(new URL(issuerUrl).host)}</name></author>` +
    `<link href="${escapeHtml(page)}"/><link rel="self" href="${escapeHtml(page)}.atom"/>` +
    `<updated>${releases[0]!.date}T00:00:00Z</updated>${entries.join("")}</feed>\n`
  );
}
