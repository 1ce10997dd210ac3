import type { PageRequest } from "./page-request.ts";

type Named = { id: string; name: string };

/**
 * The options that a form shows out of many; `kept` are chosen ids that are not shown, `isMore` means that the search
 * found more.
 */
export type Choices = { search: string; options: (Named & { isChosen: boolean })[]; kept: string[]; isMore: boolean };

export const mostChoices = 40;

/** The chosen ids of a form: ticked boxes and `kept` ones. */
export const readChosen = ({ typed, field }: Pick<PageRequest, "typed" | "field">, name: string): string[] => [
  ...new Set([...(typed[name] ?? []), ...field(`kept-${name}`).split(",")].filter((id) => id !== "")),
];

export const searchOf = ({ field }: Pick<PageRequest, "field">, name: string): string => field(`search-${name}`);

/** Shows as many results as fit; without a search, chosen options come first. */
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

/** Codes that schools use most; the API takes others too. */
const schoolingLevels = [
  ...["GRUNDSCHULE", "HAUPTSCHULE", "REALSCHULE", "OBERSCHULE", "GESAMTSCHULE", "GYMNASIUM"],
  ...["FOERDERSCHULE", "BERUFSBILDENDE_SCHULE"],
];

/** The schooling levels of a form, with the present one of the school, whatever it is. */
export const nameSchoolingLevels = ({ t }: PageRequest, present: string | null = null): Named[] => [
  ...schoolingLevels.map((id) => ({ id, name: t(`frame.level.${id}`) })),
  ...(present === null || schoolingLevels.includes(present) ? [] : [{ id: present, name: present }]),
];
