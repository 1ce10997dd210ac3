import type { PageRequest } from "./page-request.ts";

type Named = { id: string; name: string };

/**
 * What a form shows of many things that can be chosen.
 *
 * Shape: `kept` are the ids of what is chosen and not shown; `isMore` where more than what is shown was found.
 */
export type Choices = { search: string; options: (Named & { isChosen: boolean })[]; kept: string[]; isMore: boolean };

/** How many boxes a form shows of one kind. */
export const mostChoices = 40;

/** What is chosen in a form: the boxes that are ticked, and what the form kept without showing it. */
export const readChosen = ({ typed, field }: Pick<PageRequest, "typed" | "field">, name: string): string[] => [
  ...new Set([...(typed[name] ?? []), ...field(`kept-${name}`).split(",")].filter((id) => id !== "")),
];

/** What was searched for among the choices of this name. */
export const searchOf = ({ field }: Pick<PageRequest, "field">, name: string): string => field(`search-${name}`);

/** Shows what was found, as much as fits; where nothing was searched for, what is chosen comes first. */
export function makeChoices(search: string, found: readonly Named[], chosen: readonly string[]): Choices {
  const isChosen = ({ id }: Named): boolean => chosen.includes(id);
  const inOrder = search === "" ? [...found.filter(isChosen), ...found.filter((one) => !isChosen(one))] : found;
  const shown = inOrder.slice(0, mostChoices);
  return {
    search,
    options: shown.map((one) => ({ ...one, isChosen: isChosen(one) })),
    kept: chosen.filter((id) => !shown.some((one) => one.id === id)),
    isMore: found.length > shown.length,
  };
}
