import type { components as Components11 } from "../../generated/openapi/oneroster-1.1.ts";
import type { components } from "../../generated/openapi/oneroster.ts";
import { AppError } from "../platform/errors.ts";
import { present } from "../platform/contract-types.ts";
import type { RenderFailure } from "../platform/http/index.ts";
import type { Version } from "./contract.ts";

type Minor = components["schemas"]["OneRosterErrorCode"];

export const refuseFilter = (message: string) => new AppError("invalid", "invalid_filter_field", message);
export const refuseSort = (message: string) => new AppError("invalid", "invalid_sort_field", message);
export const refuseSelection = (message: string) => new AppError("invalid", "invalid_selection_field", message);

/** Missing and hidden records get the same error. */
export const recordNotFound = () => new AppError("not_found", "unknownobject", "There is no such record for this app.");

const byCode: Partial<Record<string, Minor>> = {
  invalid_filter_field: "invalid_filter_field",
  invalid_sort_field: "invalid_sort_field",
  invalid_selection_field: "invalid_selection_field",
};

const byStatus: Partial<Record<number, Minor>> = {
  401: "unauthorisedrequest",
  403: "forbidden",
  404: "unknownobject",
  405: "unsupported",
  429: "server_busy",
  500: "internal_server_error",
  503: "server_busy",
};

/** The codes that version 1.1 spells in another way. */
const spelling11: Partial<Record<Minor, Components11["schemas"]["OneRosterErrorCode"]>> = {
  unauthorisedrequest: "unauthorized",
  unknownobject: "unknown object",
  invaliddata: "invalid data",
};

export const makeRender =
  (version: Version): RenderFailure =>
  ({ code, status, message }, res) => {
    const minor = byCode[code] ?? byStatus[status] ?? "invaliddata";
    const info = {
      imsx_codeMajor: minor === "unsupported" ? ("unsupported" as const) : ("failure" as const),
      imsx_severity: "error" as const,
      imsx_description: message,
    };
    if (version === "v1p1") {
      const spelled = spelling11[minor] ?? (minor as Components11["schemas"]["OneRosterErrorCode"]);
      const body = { statusInfoSet: [{ ...info, imsx_CodeMinor: spelled }] };
      res.status(status).json(present<Components11["schemas"]["OneRosterStatusInfo"]>(body));
      return;
    }
    const field = { imsx_codeMinorFieldName: "TargetEndSystem", imsx_codeMinorFieldValue: minor };
    const body = { ...info, imsx_CodeMinor: { imsx_codeMinorField: [field] } };
    res.status(status).json(present<components["schemas"]["OneRosterStatusInfo"]>(body));
  };
