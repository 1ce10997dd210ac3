import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";

type AppReads = NonNullable<AdminSchemas["AppReads"]>;

/** What an app can read of the school by itself, a sentence for each kind of data. */
export function describeReads(reads: AppReads, { t, locale }: Pick<PageRequest, "t" | "locale">): string[] {
  const { groups } = reads;
  const names = new Intl.ListFormat(locale, { type: "conjunction" }).format(groups);
  const counts = (["people", "otherPeople", "users", "otherUsers"] as const).filter((key) => reads[key] > 0);
  const said = [
    ...(reads.school ? [t("frame.reads.school")] : []),
    ...(groups.length > 0 ? [t("frame.reads.groups", { count: groups.length, names })] : []),
    ...counts.map((key) => t(`frame.reads.${key}`, { count: reads[key] })),
  ];
  return said.length > 0 ? said : [t("frame.reads.nothing")];
}
