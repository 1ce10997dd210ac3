import { cp, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { parse, stringify } from "yaml";
import { fieldsOf, findLosses } from "../../openapi/tools/client-types.ts";
import type { Document } from "../../openapi/tools/document.ts";
import { generateClient, languages, prepareGenerator } from "../../openapi/tools/generator.ts";

/** One field of every kind, with null and without. */
const contract = `
openapi: 3.0.3
info: { title: Planted, version: 1.0.0 }
paths:
  /pupil:
    get:
      operationId: getPupil
      responses:
        "200":
          description: The pupil.
          content: { application/json: { schema: { $ref: "#/components/schemas/Pupil" } } }
components:
  schemas:
    Place: { type: object, nullable: true, required: [town], properties: { town: { type: string } } }
    Pupil:
      type: object
      required: [id, nickName, role, tags, birthday, seen_at, place]
      properties:
        id: { type: string, format: uuid }
        nickName: { type: string, nullable: true }
        role: { type: string, enum: [LEARNS, TEACHES] }
        tags: { type: array, items: { type: string, enum: [SMALL, TALL] } }
        birthday: { type: string, format: date }
        seen_at: { type: string, format: date-time, nullable: true }
        place: { $ref: "#/components/schemas/Place" }
`;
const document = parse(contract) as Document;

/** In the file of the model Pupil: what a field looks like, and what it looks like once its type is lost. */
const spoilt: Record<string, Record<string, [from: RegExp, to: string]>> = {
  python: {
    "id: uuid": [/ {4}id: StrictStr/, "    id: Any"],
    "nickName: nullable": [/nick_name: Optional\[StrictStr\]/, "nick_name: StrictStr"],
    "role: enum": [/@validator\('role'\)/, "@validator('other')"],
    "tags: enum": [/'SMALL', /g, ""],
    "birthday: date": [/ {4}birthday: date/, "    birthday: StrictStr"],
    "seen_at: date-time": [/seen_at: Optional\[datetime\]/, "seen_at: Optional[Any]"],
    "place: missing": [/ {4}place: /, "    other: "],
  },
  "typescript-fetch": {
    "id: uuid": [/ {4}id: string;/, "    id: any;"],
    "nickName: nullable": [/nickName: string \| null;/, "nickName: string;"],
    "role: enum": [/ {4}role: PupilRoleEnum;/, "    role: string;"],
    "tags: enum": [/'SMALL'/, "'LITTLE'"],
    "birthday: date": [/ {4}birthday: Date;/, "    birthday: string;"],
    "seen_at: date-time": [/seenAt: Date \| null;/, "seenAt: string | null;"],
    "place: missing": [/ {4}place: /, "    other: "],
  },
  java: {
    "id: uuid": [/private UUID id/, "private Object id"],
    "nickName: nullable": [
      /@javax\.annotation\.Nullable(\n {2}public String getNickName)/,
      "@javax.annotation.Nonnull$1",
    ],
    "role: enum": [/private RoleEnum role/, "private String role"],
    "tags: enum": [/SMALL\("SMALL"\)/, 'LITTLE("LITTLE")'],
    "birthday: date": [/private LocalDate birthday/, "private String birthday"],
    "seen_at: date-time": [/private OffsetDateTime seenAt/, "private Object seenAt"],
    "place: missing": [/private Place place/, "private Place other"],
  },
  go: {
    "id: uuid": [/Id string `/, "Id interface{} `"],
    "nickName: nullable": [/NickName NullableString `/, "NickName string `"],
    "role: enum": [/Role PupilRole `/, "Role string `"],
    "tags: enum": [/Tags \[\]\w+ `/, "Tags []string `"],
    "birthday: date": [/Birthday string `/, "Birthday interface{} `"],
    "seen_at: date-time": [/SeenAt NullableTime `/, "SeenAt NullableString `"],
    "place: missing": [/`json:"place"`/, '`json:"other"`'],
  },
  php: {
    "id: uuid": [/'id' => 'uuid'/, "'id' => null"],
    "nickName: nullable": [/'nick_name' => true/, "'nick_name' => false"],
    "role: enum": [/getRoleAllowableValues\(\)/g, "getOthers()"],
    "tags: enum": [/ = 'SMALL';/, " = 'LITTLE';"],
    "birthday: date": [/'birthday' => 'date'/, "'birthday' => null"],
    "seen_at: date-time": [/'seen_at' => '\\\\?DateTime'/, "'seen_at' => 'string'"],
    "place: missing": [/'place' => 'place'/, "'place' => 'other'"],
  },
};
const modelFile: Record<string, string> = {
  python: "schultor_planted/models/pupil.py",
  "typescript-fetch": "models/Pupil.ts",
  java: "src/main/java/org/openapitools/client/model/Pupil.java",
  go: "model_pupil.go",
  php: "lib/Model/Pupil.php",
};

let folder: string;
const made = (language: string) => join(folder, language);

beforeAll(async () => {
  await prepareGenerator();
  folder = await mkdtemp(join(tmpdir(), "clients-"));
  await writeFile(join(folder, "planted.yaml"), contract);
  await Promise.all(
    languages.map((language) => generateClient(join(folder, "planted.yaml"), "planted", language, made(language.name))),
  );
});
afterAll(() => rm(folder, { recursive: true }));

test("every nullable, enum, UUID and date field is looked at", () => {
  expect(fieldsOf(document).map(({ name }) => name)).toEqual([
    "id",
    "nickName",
    "role",
    "tags",
    "birthday",
    "seen_at",
    "place",
  ]);
});

test("plants a loss of every kind in every language", () => {
  const kinds = Object.values(spoilt).map((fields) => Object.keys(fields).map((field) => field.split(": ")[1]));
  expect(Object.keys(spoilt)).toEqual(languages.map(({ name }) => name));
  for (const planted of kinds)
    expect(new Set(planted)).toEqual(new Set(["uuid", "nullable", "enum", "date", "date-time", "missing"]));
});

describe.each(languages.map(({ name }) => name))("a client in %s", (language) => {
  test("keeps every type", () => {
    expect(findLosses(document, language, made(language))).toEqual([]);
  });

  test.each(Object.keys(spoilt[language]!))("is refused when it loses %s", async (loss) => {
    const copy = join(folder, `${language} ${loss.replaceAll(/\W/g, "-")}`);
    await cp(made(language), copy, { recursive: true });
    const [from, to] = spoilt[language]![loss]!;
    const text = await readFile(join(copy, modelFile[language]!), "utf8");
    await writeFile(join(copy, modelFile[language]!), text.replace(from, to));
    expect(findLosses(document, language, copy)).toEqual([`${language} Pupil.${loss}`]);
  });

  test("is refused when a whole model is missing", async () => {
    const copy = join(folder, `${language} without`);
    await cp(made(language), copy, { recursive: true });
    await rm(join(copy, modelFile[language]!));
    expect(findLosses(document, language, copy)).toHaveLength(fieldsOf(document).length);
    expect(await readdir(copy)).not.toEqual([]);
  });
});

test("a contract written in 3.1 loses its types in the generated client, and the check says so", async () => {
  const newer = parse(contract.replace("3.0.3", "3.1.0")) as {
    components: {
      schemas: { Pupil: { properties: Record<string, { type?: string | string[]; nullable?: boolean }> } };
    };
  };
  const { nickName } = newer.components.schemas.Pupil.properties;
  Object.assign(nickName!, { type: ["string", "null"] });
  Reflect.deleteProperty(nickName!, "nullable");
  await writeFile(join(folder, "newer.yaml"), stringify(newer));
  const python = languages.find(({ name }) => name === "python")!;
  await generateClient(join(folder, "newer.yaml"), "newer", python, made("newer"));
  expect(findLosses(document, "python", made("newer"))).toContain("python Pupil.id: uuid");
});
