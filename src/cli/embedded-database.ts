import type { Config } from "../config/index.ts";
import { AppError } from "../platform/errors.ts";
import { findPlace, listOutsidePlaces, removeDatabase, removeOutsidePlace } from "../platform/postgres/index.ts";
import type { DatabasePlace } from "../platform/postgres/index.ts";
import { makeMachineCommand, type Verbs } from "./command.ts";
import { alignColumns, recordLines } from "./lines.ts";
import { checkDatabaseExists } from "./local/database.ts";
import { option } from "./option.ts";

function checkEmbedded({ databaseUrl }: Config): void {
  if (databaseUrl !== undefined)
    throw new AppError(
      "conflict",
      "database_not_embedded",
      "DATABASE_URL is set: the database is on a server of yours, and this command does not know where its files are.",
    );
}

const outsideColumns = ({ folder, dataDir, isInUse }: DatabasePlace): string[] => [
  folder,
  isInUse ? `of ${dataDir ?? ""}` : `of ${dataDir ?? "an unknown DATA_DIR"}, which no longer leads here`,
];

export const verbs: Verbs = {
  where: makeMachineCommand({
    reason: "The files are on the machine of the service.",
    summary:
      "Show where the files of the database are, and which databases on this machine lie outside their DATA_DIR.",
    run: async ({ config }) => {
      checkEmbedded(config);
      const place = findPlace(config.dataDir);
      const outside = listOutsidePlaces();
      const here = recordLines({
        DATA_DIR: config.dataDir,
        files: place?.folder ?? null,
        "user id": place === null ? null : String(place.ownerUid),
      });
      return {
        lines: [
          ...here,
          ...(outside === null ? ["", "Only root can list the databases outside their DATA_DIR."] : []),
          ...(outside !== null && outside.length > 0 ? ["", "Outside their DATA_DIR:"] : []),
          ...alignColumns((outside ?? []).map(outsideColumns)),
        ],
        data: { dataDir: config.dataDir, folder: place?.folder ?? null, ownerUid: place?.ownerUid ?? null, outside },
      };
    },
  }),
  remove: makeMachineCommand({
    reason: "The files are on the machine of the service.",
    summary: "Delete the database of DATA_DIR, wherever its files are.",
    irreversible: "This deletes everything in the database.",
    options: {
      folder: option.text(
        "Delete this database instead, which no DATA_DIR refers to any more; `database where` lists them.",
        "folder",
      ),
    },
    run: async ({ config }, { options: { folder } }) => {
      checkEmbedded(config);
      if (folder === undefined) await checkDatabaseExists(config);
      const removed = folder === undefined ? await removeDatabase(config.dataDir) : await removeOutsidePlace(folder);
      return { lines: [`Removed ${removed}.`], data: { removed } };
    },
  }),
};
