import type { PublishedDocument } from "./documents.ts";
import { listErrors, type Guide } from "./guides.ts";
import { listHeadings, plainText } from "./markdown.ts";

type Findable = { kind: "Page" | "Error" | "Operation"; title: string; path: string; text: string };

export type Found = Omit<Findable, "text"> & { excerpt: string[] };

export type Search = (query: string) => Found[];

const mostResults = 30;
const excerptLength = 180;

export function makeSearch(guides: readonly Guide[], documents: readonly PublishedDocument[]): Search {
  const findables = [...guides.flatMap(listSections), ...listErrorPages(), ...documents.flatMap(listOperations)].map(
    (findable) => ({ findable, title: findable.title.toLowerCase(), all: searchText(findable) }),
  );
  return (query) => {
    const words = query.toLowerCase().match(/[\p{L}\p{N}_/-]+/gu) ?? [];
    if (words.length === 0) return [];
    return findables
      .filter(({ all }) => words.every((word) => all.includes(word)))
      .map((one) => ({ ...one, rank: words.filter((word) => one.title.includes(word)).length }))
      .sort((one, other) => other.rank - one.rank)
      .slice(0, mostResults)
      .map(({ findable: { text, ...found } }) => ({ ...found, excerpt: makeExcerpt(text, words) }));
  };
}

const searchText = ({ title, text }: Findable): string => `${title} ${text}`.toLowerCase();

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

type Operation = { operationId?: string; summary?: string; description?: string; tags?: string[] };

function listOperations({ name, isVariant, label, json }: PublishedDocument): Findable[] {
  if (isVariant) return [];
  const { paths } = JSON.parse(json) as { paths: Record<string, Record<string, Operation>> };
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).flatMap(([method, { operationId, summary = "", description = "", tags = [] }]) =>
      operationId === undefined
        ? []
        : {
            kind: "Operation" as const,
            title: `${label}: ${summary}`,
            path: `/docs/${name}#tag/${(tags[0] ?? "").replaceAll(" ", "-")}/operation/${operationId}`,
            text: `${method.toUpperCase()} ${path} ${operationId}. ${plainText(description)}`,
          },
    ),
  );
}

function makeExcerpt(text: string, words: readonly string[]): string[] {
  const pattern = new RegExp(`(${words.join("|")})`, "giu");
  const first = Math.max(0, text.search(pattern) - excerptLength / 3);
  const begin = first === 0 ? 0 : text.indexOf(" ", first) + 1;
  const cut = text.slice(begin, begin + excerptLength);
  const end = begin + cut.length < text.length ? `${cut.replace(/ \S*$/, "")} …` : cut;
  return `${begin > 0 ? "… " : ""}${end}`.split(pattern);
}
