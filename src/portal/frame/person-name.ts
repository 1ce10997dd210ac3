import type { AdminSchemas } from "../../admin/index.ts";
import type { PageRequest } from "./page-request.ts";

export const nameOf = ({ name }: { name: AdminSchemas["PersonName"] }, { t }: Pick<PageRequest, "t">): string =>
  name === null ? t("frame.nameless") : `${name.firstCall} ${name.last}`;
