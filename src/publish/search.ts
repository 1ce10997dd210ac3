import { setImmediate } from "node:timers/promises";
import MiniSearch from "minisearch";
import type { PublishedDocument } from "./documents.ts";
import { listErrors, type Guide } from "./guides.ts";
import { listHeadings, plainText } from "./markdown.ts";
import { splitWords, termsOf } from "./search-terms.ts";

type Findable = { kind: "Page" | "Error" | "Operation"; title: string; path: string; text: string };

type Hit = Omit<Findable, "text"> & { excerpt: string[] };

/** `isNear`: nothing has the words, and these are the nearest pages. */
export type Results = { hits: Hit[]; isNear: boolean };
export type Search = (query: string) => Results;

const mostResults = 30;
const nearResults = 6;
const excerptLength = 180;

const indexedAtOnce = 20;

/** Builds the index in many turns of the event loop: at once it takes up to seconds, for anybody's first search. */
export async function makeSearch(guides: readonly Guide[], documents: readonly PublishedDocument[]): Promise<Search> {
  const findables: Findable[] = [];
  const index = new MiniSearch<Findable & { id: number }>({
    fields: ["title", "path", "text"],
    tokenize: splitWords,
    processTerm: termsOf,
    searchOptions: { boost: { title: 5, path: 2 }, prefix: (term) => term.length > 3, fuzzy: false },
  });
  const sources = [
    ...guides.map((guide) => () => listSections(guide)),
    listErrorPages,
    // OneRoster repeats the lists of the IDM API, which would be found after them. Its guide leads to it.
    ...documents.filter(({ name }) => !name.startsWith("oneroster")).map((document) => () => listOfDocument(document)),
  ];
  for (const list of sources) {
    await setImmediate();
    findables.push(...list());
  }
  for (let at = 0; at < findables.length; at += indexedAtOnce) {
    await setImmediate();
    index.addAll(findables.slice(at, at + indexedAtOnce).map((findable, n) => ({ ...findable, id: at + n })));
  }
  const near = listStarts(guides);
  return (query) => {
    const words = [...new Set(splitWords(query))].slice(0, mostWords);
    if (words.length === 0) return { hits: [], isNear: false };
    const marked = words.filter((word) => termsOf(word).length > 0);
    const present = (results: readonly { id: unknown }[]) =>
      results.map(({ id }) => {
        const { text, ...result } = findables[id as number]!;
        return { ...result, excerpt: makeExcerpt(text, marked) };
      });
    const text = words.join(" ");
    const exact = index.search(text).slice(0, mostResults);
    if (exact.length > 0) return { hits: present(exact), isNear: false };
    const similar = index.search(text, { fuzzy: 0.35 }).slice(0, nearResults);
    return { hits: similar.length > 0 ? present(similar) : near, isNear: true };
  };
}

const mostWords = 20;
const starts = ["first-steps", "tutorial-typescript", "sign-on-server", "first-load", "receive-webhooks", "errors"];

const listStarts = (guides: readonly Guide[]): Hit[] =>
  starts.flatMap((wanted) =>
    guides
      .filter(({ name }) => name === wanted)
      .map(({ name, title, text }) => ({
        kind: "Page" as const,
        title,
        path: `/docs/${name}`,
        excerpt: makeExcerpt(plainText(text.replace(/^# .*\n/, "")), []),
      })),
  );

function listSections({ name, title, text }: Guide): Findable[] {
  if (name === "errors") return [];
  const headings = listHeadings(text);
  return text.split(/^## /m).map((section, at) => {
    const heading = headings[at - 1];
    const place = heading === undefined ? "" : `#${heading.id}`;
    return {
      kind: "Page",
      title: heading === undefined ? title : `${title}: ${heading.text}`,
      path: `/docs/${name}${place}`,
      text: plainText(section.replace(/^.*\n/, "")),
    };
  });
}

const listErrorPages = (): Findable[] =>
  listErrors().map(({ code, text }) => ({
    kind: "Error",
    title: code,
    path: `/docs/errors/${code}`,
    text: plainText(text.replace(/^# .*\n/, "").replace(/\n\[All errors\].*\n$/, "")),
  }));

type Tag = { name: string; description?: string; "x-traitTag"?: boolean };
type Operation = { operationId?: string; summary?: string; description?: string; tags?: string[] };
type Contract = { tags?: Tag[]; paths: Record<string, Record<string, Operation>> };

const anchorOf = (tag: string): string => `tag/${tag.replaceAll(" ", "-")}`;

/** The operations of a reference, and its chapters of text. */
function listOfDocument({ name, label, json, isVariant, isForStaff }: PublishedDocument): Findable[] {
  // Partners search here: the operations of staff would come before theirs.
  if (isVariant || isForStaff) return [];
  const { tags: chapters = [], paths } = JSON.parse(json) as Contract;
  const pages = chapters
    .filter(({ "x-traitTag": isChapter = false }) => isChapter)
    .map(({ name: chapter, description = "" }): Findable => {
      const path = `/docs/${name}#${anchorOf(chapter)}`;
      return { kind: "Page", title: `${label}: ${chapter}`, path, text: plainText(description) };
    });
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(
      ([method, { operationId, summary = "", description = "", tags = [] }]): Findable[] => {
        if (operationId === undefined) return [];
        const text = `${method.toUpperCase()} ${path} ${operationId}. ${plainText(description)}`;
        const address = `/docs/${name}#${anchorOf(tags[0] ?? "")}/operation/${operationId}`;
        return [{ kind: "Operation", title: `${label}: ${summary}`, path: address, text }];
      },
    ),
  );
  return [...pages, ...operations];
}

function makeExcerpt(text: string, words: readonly string[]): string[] {
  const pattern = new RegExp(`(${words.length === 0 ? "(?!)" : words.join("|")})`, "giu");
  const first = Math.max(0, text.search(pattern) - excerptLength / 3);
  const begin = first === 0 ? 0 : text.indexOf(" ", first) + 1;
  const cut = text.slice(begin, begin + excerptLength);
  const end = begin + cut.length < text.length ? `${cut.replace(/ \S*$/, "")} …` : cut;
  return `${begin > 0 ? "… " : ""}${end}`.split(pattern);
}
