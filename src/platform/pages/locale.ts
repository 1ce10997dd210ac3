export const locales = ["de", "en"] as const;

export type Locale = (typeof locales)[number];

const fallback: Locale = "de";

/** The person's pick, then `ui_locales` (OpenID Connect Core), then Accept-Language. */
export function chooseLocale(wishes: {
  picked?: string | undefined;
  uiLocales?: string | undefined;
  acceptLanguage?: string | undefined;
}): Locale {
  const wanted = [
    wishes.picked ?? "",
    ...(wishes.uiLocales ?? "").split(" "),
    ...byPreference(wishes.acceptLanguage ?? ""),
  ];
  for (const tag of wanted) {
    const language = tag.toLowerCase().split("-")[0];
    const match = locales.find((locale) => locale === language);
    if (match !== undefined) return match;
  }
  return fallback;
}

function byPreference(header: string): string[] {
  return header
    .split(",")
    .map((part) => {
      const [tag = "", ...parameters] = part.trim().split(";");
      const quality = parameters.map((parameter) => /^\s*q=([\d.]+)\s*$/i.exec(parameter)?.[1]).find(Boolean);
      return { tag: tag.trim(), quality: quality === undefined ? 1 : Number(quality) };
    })
    .filter((entry) => entry.quality > 0)
    .sort((left, right) => right.quality - left.quality)
    .map((entry) => entry.tag);
}
