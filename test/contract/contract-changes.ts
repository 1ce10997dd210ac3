/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access,
   @typescript-eslint/no-unsafe-call, @typescript-eslint/no-unsafe-argument --
   planted changes reach into a document as a careless hand would */
import type { Kind } from "../../openapi/tools/breaks.ts";

export const released = `
servers: [{ url: "https://api.example.org" }]
paths:
  /people:
    post:
      operationId: createPerson
      tags: [People]
      security: [{ app: [people:write] }, { key: [] }]
      parameters:
        - { name: ended, in: query, deprecated: true, x-sunset: "2026-08-01", schema: { type: boolean } }
        - { name: ending, in: query, deprecated: true, x-sunset: "2027-08-01", schema: { type: boolean } }
        - { name: ids, in: query, allowReserved: true, schema: { type: array, items: { type: string } } }
        - { name: X-Trace, in: header, schema: { type: string } }
      requestBody:
        required: true
        content:
          application/json: { schema: { $ref: "#/components/schemas/Sent" } }
          multipart/form-data:
            schema: { type: object, properties: { photo: { type: string, format: binary } } }
            encoding: { photo: { contentType: image/png } }
      responses:
        "201":
          headers: { Location: { required: true, schema: { type: string, maxLength: 200 } } }
          content: { application/json: { schema: { $ref: "#/components/schemas/Answered" } } }
        4XX: { description: Refused }
      callbacks:
        created:
          "{$request.body#/url}":
            post:
              operationId: receivePerson
              security: [{ key: [] }]
              parameters: [{ name: X-Signature, in: header, required: true, schema: { type: string } }]
              requestBody:
                required: true
                content:
                  application/json:
                    schema:
                      type: object
                      required: [id, kind]
                      properties: { id: { type: string }, kind: { type: string, enum: [CREATED, FAILED] } }
              responses: { "204": { description: Done }, "410": { description: No more } }
    delete:
      operationId: deletePeople
      deprecated: true
      x-sunset: "2026-08-01"
      responses: { "204": { description: Done } }
  /people/{id}:
    parameters:
      - { name: id, in: path, required: true, schema: { type: string, format: uuid } }
    get:
      operationId: getPerson
      security: [{ app: [people:read] }]
      parameters:
        - { name: lang, in: query, style: form, schema: { type: string, nullable: true, enum: [de, en], default: de } }
        - { name: limit, in: query, schema: { type: integer, minimum: 1, maximum: 100 } }
        - { name: since, in: query, schema: { type: string } }
      responses:
        "200":
          headers: { ETag: { schema: { type: string } } }
          content: { application/json: { schema: { $ref: "#/components/schemas/Person" } } }
        "404": { content: { application/json: { schema: { $ref: "#/components/schemas/Problem" } } } }
    put:
      operationId: replacePerson
      security: [{ app: [people:write] }]
      requestBody:
        required: false
        content:
          application/json: { schema: { $ref: "#/components/schemas/NewPerson" } }
          application/xml: { schema: { $ref: "#/components/schemas/NewPerson" } }
      responses: { "204": { description: Done } }
components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
    app: { type: oauth2, flows: { clientCredentials: { tokenUrl: /token, scopes: { people:write: Change } } } }
  schemas:
    Sent: &entry
      type: object
      required: [kind]
      properties:
        id: { type: string, readOnly: true }
        secret: { type: string, writeOnly: true }
        kind: { type: string, enum: [A, B], nullable: true }
        name: { type: string, minLength: 1, maxLength: 100 }
        size: { type: number, minimum: 1, maximum: 10, multipleOf: 2 }
        labels: { type: array, minItems: 1, maxItems: 9, items: { type: string } }
        extra: { type: object, properties: { id: { type: string } }, minProperties: 1, maxProperties: 9 }
        shape:
          discriminator:
            propertyName: kind
            mapping: { pupil: "#/components/schemas/Pupil", teacher: "#/components/schemas/Teacher" }
          oneOf: [{ $ref: "#/components/schemas/Pupil" }, { $ref: "#/components/schemas/Teacher" }]
        pupil: { $ref: "#/components/schemas/Pupil" }
        any: {}
        past: { type: string, deprecated: true, x-sunset: "2026-08-01" }
    Answered: *entry
    Name: { type: object, required: [last], properties: { first: { type: string }, last: { type: string } } }
    Pupil: { type: object, properties: { kind: { type: string } } }
    Teacher: { type: object, properties: { kind: { type: string } } }
    Token: { type: object, required: [sub], properties: { sub: { type: string } } }
    Problem: { type: object, properties: { message: { type: string } } }
    Person:
      type: object
      required: [id, role]
      properties:
        id: { type: string, format: uuid }
        role: { type: string, enum: [STUDENT, TEACHER] }
        age: { type: integer, maximum: 150 }
        nick: { type: string, nullable: true }
        name: { type: object, nullable: true, allOf: [{ $ref: "#/components/schemas/Name" }] }
        friends: { type: array, items: { $ref: "#/components/schemas/Person" } }
        is: { oneOf: [{ $ref: "#/components/schemas/Pupil" }, { $ref: "#/components/schemas/Teacher" }] }
        marks: { type: object, additionalProperties: { type: integer } }
    NewPerson:
      type: object
      required: [last]
      properties:
        last: { type: string, maxLength: 100 }
        nick: { type: string, nullable: true }
        role: { type: string, enum: [STUDENT, TEACHER] }
        age: { type: number }
        note: { type: string }
`;

type Loose = any;
export type Change = (document: Loose) => unknown;
const person = (document: Loose) => document.components.schemas.Person;
const input = (document: Loose) => document.components.schemas.NewPerson;
const path = (document: Loose) => document.paths["/people/{id}"];
const parameter = (document: Loose, index: number) => path(document).get.parameters[index];

function renameId({ paths }: Loose): void {
  const { "/people/{id}": item } = paths;
  delete paths["/people/{id}"];
  item.parameters[0].name = "personId";
  paths["/people/{personId}"] = item;
}

const create = (document: Loose) => document.paths["/people"].post;
const callback = (document: Loose) => create(document).callbacks.created["{$request.body#/url}"].post;
const called = (document: Loose) => callback(document).requestBody.content["application/json"].schema;
const flow = (document: Loose) => Object.values<Loose>(document.components.securitySchemes.app.flows)[0];
const form = (document: Loose) => create(document).requestBody.content["multipart/form-data"];
const location = (document: Loose) => create(document).responses["201"].headers.Location.schema;
const sent = (document: Loose) => document.components.schemas.Sent.properties;
const answered = (document: Loose) => document.components.schemas.Answered.properties;
const seen = { required: true, schema: { type: "string" } };
const receive = "POST /people calls POST {$request.body#/url}";

/**
 * Each wrong change and the one break that it is: what, where.
 *
 * The mirror of a change, from the new contract to the old one, breaks nobody, or is the kind that stands last.
 */
export const planted: [kind: Kind, where: string, change: Change, mirror?: Kind][] = [
  ["path-removed", "/people/{id}", (d) => delete d.paths["/people/{id}"]],
  ["path-parameter-renamed", "/people/{id} id", (d) => renameId(d), "path-parameter-renamed"],
  ["operation-removed", "PUT /people/{id}", (d) => delete path(d).put],
  ["operation-id-changed", "GET /people/{id}", (d) => (path(d).get.operationId = "findPerson"), "operation-id-changed"],
  [
    "security-changed",
    "GET /people/{id}",
    (d) => (path(d).get.security = [{ app: ["users:read"] }]),
    "security-changed",
  ],
  ["security-changed", "GET /people/{id}", (d) => path(d).get.security[0].app.push("more:read")],
  [
    "security-scheme-changed",
    "app",
    (d) => (d.components.securitySchemes.app = { type: "http", scheme: "basic" }),
    "security-scheme-changed",
  ],
  ["parameter-removed", "GET /people/{id} query since", (d) => path(d).get.parameters.pop()],
  ["parameter-required", "GET /people/{id} query since", (d) => (parameter(d, 2).required = true)],
  [
    "parameter-required",
    "GET /people/{id} header X-New",
    (d) => path(d).get.parameters.push({ name: "X-New", in: "header", required: true, schema: { type: "string" } }),
    "parameter-removed",
  ],
  [
    "parameter-style-changed",
    "GET /people/{id} query lang",
    (d) => (parameter(d, 0).style = "deepObject"),
    "parameter-style-changed",
  ],
  ["default-changed", "GET /people/{id} query lang", (d) => (parameter(d, 0).schema.default = "en"), "default-changed"],
  ["enum-value-removed", "GET /people/{id} query lang", (d) => parameter(d, 0).schema.enum.shift()],
  ["enum-value-removed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema.enum = ["today"])],
  ["nullability-changed", "GET /people/{id} query lang", (d) => delete parameter(d, 0).schema.nullable],
  [
    "type-changed",
    "GET /people/{id} query since",
    (d) => (parameter(d, 2).schema = { type: "integer" }),
    "type-changed",
  ],
  ["format-changed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema.format = "date")],
  ["limit-changed", "GET /people/{id} query limit", (d) => (parameter(d, 1).schema.maximum = 50)],
  ["limit-changed", "GET /people/{id} query since", (d) => (parameter(d, 2).schema.pattern = "^2")],
  ["status-removed", "GET /people/{id} 404", (d) => delete path(d).get.responses["404"]],
  [
    "success-added",
    "GET /people/{id} 202",
    (d) => (path(d).get.responses["202"] = { description: "Later" }),
    "status-removed",
  ],
  ["header-removed", "GET /people/{id} 200 ETag", (d) => delete path(d).get.responses["200"].headers],
  [
    "media-type-removed",
    "GET /people/{id} 200 application/json",
    (d) => (path(d).get.responses["200"].content = { "application/xml": {} }),
    "media-type-removed",
  ],
  [
    "media-type-removed",
    "PUT /people/{id} body application/xml",
    (d) => delete path(d).put.requestBody.content["application/xml"],
  ],
  ["body-required", "PUT /people/{id} body", (d) => (path(d).put.requestBody.required = true)],
  ["property-removed", "GET /people/{id} 200.nick", (d) => delete person(d).properties.nick],
  ["property-removed", "GET /people/{id} 200.name.first", (d) => delete d.components.schemas.Name.properties.first],
  [
    "property-removed",
    "GET /people/{id} 200.marks.*",
    (d) => (person(d).properties.marks.additionalProperties = false),
  ],
  ["property-removed", "PUT /people/{id} body.note", (d) => delete input(d).properties.note],
  ["property-optional", "GET /people/{id} 200.role", (d) => person(d).required.pop()],
  ["property-required", "PUT /people/{id} body.nick", (d) => input(d).required.push("nick")],
  ["type-changed", "GET /people/{id} 200.age", (d) => (person(d).properties.age.type = "number")],
  [
    "type-changed",
    "GET /people/{id} 200.friends[]",
    (d) => (person(d).properties.friends.items = { type: "string" }),
    "type-changed",
  ],
  ["type-changed", "GET /people/{id} 200.nick", (d) => delete person(d).properties.nick.type],
  ["type-changed", "PUT /people/{id} body.age", (d) => (input(d).properties.age.type = "integer")],
  ["format-changed", "GET /people/{id} 200.id", (d) => delete person(d).properties.id.format],
  ["nullability-changed", "GET /people/{id} 200.role", (d) => (person(d).properties.role.nullable = true)],
  ["nullability-changed", "PUT /people/{id} body.nick", (d) => delete input(d).properties.nick.nullable],
  ["enum-value-added", "GET /people/{id} 200.role", (d) => person(d).properties.role.enum.push("OTHER")],
  ["enum-value-added", "GET /people/{id} 200.role", (d) => delete person(d).properties.role.enum],
  ["limit-changed", "GET /people/{id} 200.age", (d) => delete person(d).properties.age.maximum],
  ["limit-changed", "PUT /people/{id} body.last", (d) => (input(d).properties.last.maxLength = 50)],
  ["object-closed", "PUT /people/{id} body", (d) => (input(d).additionalProperties = false)],
  ["alternative-changed", "GET /people/{id} 200.is", (d) => person(d).properties.is.oneOf.push({ type: "string" })],
  ["property-removed", "Token.sub", (d) => (d.components.schemas.Token = { type: "object" })],
  ["schema-removed", "Token", (d) => delete d.components.schemas.Token],
  [
    "unknown-change",
    "GET /people/{id} 200.nick",
    (d) => (person(d).properties.nick.not = { enum: ["x"] }),
    "unknown-change",
  ],
  ["server-removed", "https://api.example.org", (d) => (d.servers[0].url = "https://b.example.org"), "server-removed"],
  ["tag-changed", "POST /people", (d) => create(d).tags.unshift("All"), "tag-changed"],
  ["scope-removed", "app clientCredentials people:write", (d) => delete flow(d).scopes["people:write"]],
  ["security-scheme-changed", "app", (d) => (flow(d).tokenUrl = "/other"), "security-scheme-changed"],
  [
    "security-scheme-changed",
    "app",
    (d) => (d.components.securitySchemes.app.flows = { implicit: flow(d) }),
    "security-scheme-changed",
  ],
  [
    "security-scheme-changed",
    "key",
    (d) => (d.components.securitySchemes.key.name = "X-Other"),
    "security-scheme-changed",
  ],
  ["security-changed", "POST /people", (d) => create(d).security.pop()],
  ["sunset-earlier", "POST /people query ending", (d) => (create(d).parameters[1]["x-sunset"] = "2027-01-01")],
  ["sunset-earlier", "POST /people query ending", (d) => delete create(d).parameters[1]["x-sunset"]],
  ["parameter-removed", "POST /people query ending", (d) => create(d).parameters.splice(1, 1)],
  ["parameter-moved", "POST /people header X-Trace", (d) => (create(d).parameters[3].in = "cookie"), "parameter-moved"],
  [
    "parameter-style-changed",
    "POST /people query ids",
    (d) => (create(d).parameters[2].explode = false),
    "parameter-style-changed",
  ],
  ["parameter-style-changed", "POST /people query ids", (d) => delete create(d).parameters[2].allowReserved],
  ["body-removed", "POST /people body", (d) => delete create(d).requestBody, "body-required"],
  ["encoding-changed", "POST /people body multipart/form-data", (d) => delete form(d).encoding, "encoding-changed"],
  ["header-optional", "POST /people 201 Location", (d) => delete create(d).responses["201"].headers.Location.required],
  ["limit-changed", "POST /people 201 Location", (d) => (location(d).maxLength = 300)],
  [
    "success-added",
    "POST /people 303",
    (d) => (create(d).responses["303"] = { description: "There" }),
    "status-removed",
  ],
  ["status-removed", "POST /people 4XX", (d) => delete create(d).responses["4XX"]],
  ["property-removed", "POST /people body.name", (d) => (sent(d).name.readOnly = true)],
  ["property-removed", "POST /people 201.name", (d) => (answered(d).name.writeOnly = true)],
  ["object-closed", "POST /people body.extra", (d) => (sent(d).extra.additionalProperties = false)],
  ["alternative-changed", "POST /people 201.pupil", (d) => (answered(d).pupil = answered(d).shape)],
  [
    "discriminator-changed",
    "POST /people body.shape",
    (d) => (sent(d).shape.discriminator.propertyName = "is"),
    "discriminator-changed",
  ],
  [
    "discriminator-changed",
    "POST /people body.shape",
    (d) => (sent(d).shape.discriminator.mapping.pupil = "#/x"),
    "discriminator-changed",
  ],
  ["discriminator-changed", "POST /people 201.shape", (d) => (answered(d).shape.discriminator.mapping.head = "#/x")],
  [
    "discriminator-changed",
    "POST /people 201.shape",
    (d) => delete answered(d).shape.discriminator.mapping.pupil,
    "discriminator-changed",
  ],
  // What the service calls: it sends the body, and the app answers.
  ["path-removed", "POST /people calls {$request.body#/url}", (d) => delete create(d).callbacks],
  ["security-changed", receive, (d) => (callback(d).security = [])],
  ["parameter-removed", `${receive} header X-Signature`, (d) => delete callback(d).parameters],
  ["parameter-optional", `${receive} header X-Signature`, (d) => delete callback(d).parameters[0].required],
  ["body-optional", `${receive} body`, (d) => delete callback(d).requestBody.required],
  ["media-type-added", `${receive} body text/xml`, (d) => (callback(d).requestBody.content["text/xml"] = {})],
  ["property-optional", `${receive} body.id`, (d) => called(d).required.shift()],
  ["enum-value-added", `${receive} body.kind`, (d) => called(d).properties.kind.enum.push("CHANGED")],
  ["status-removed", `${receive} 410`, (d) => delete callback(d).responses["410"]],
  ["header-required", `${receive} 204 X-Seen`, (d) => (callback(d).responses["204"].headers = { "X-Seen": seen })],
];

type Narrowing = [sent: Kind, answered: Kind, at: string, change: (property: Loose) => unknown];

/** The property of the contract above that a limit fits. */
function placeOf(keyword: string): string {
  if (keyword.endsWith("Length")) return "name";
  if (keyword.endsWith("Items")) return "labels";
  return keyword.endsWith("Properties") ? "extra" : "size";
}
const limited = (keyword: string, value: number): Narrowing => [
  ...(["limit-changed", "limit-changed", placeOf(keyword)] as const),
  (property) => (property[keyword] = value),
];
const higher = (keyword: string) => limited(keyword, 2);
const lower = (keyword: string) => limited(keyword, 8);

/**
 * Changes by which a schema allows less: breaks in what apps send, none in what they read, and the other way round
 * where they are taken back.
 *
 * Shape: the kind in what apps send, the kind in what they read when it is taken back, the property, the change to it.
 */
export const narrowing: Narrowing[] = [
  ...["minimum", "minLength", "minItems", "minProperties", "exclusiveMinimum"].map(higher),
  ...["maximum", "maxLength", "maxItems", "maxProperties", "exclusiveMaximum"].map(lower),
  ["limit-changed", "limit-changed", "size", (property) => (property.exclusiveMinimum = true)],
  ["limit-changed", "limit-changed", "size", (property) => delete property.minimum && (property.exclusiveMinimum = 1)],
  ["limit-changed", "limit-changed", "size", (property) => (property.multipleOf = 4)],
  ["limit-changed", "limit-changed", "name", (property) => (property.pattern = "^A")],
  ["limit-changed", "limit-changed", "labels", (property) => (property.uniqueItems = true)],
  ["limit-changed", "limit-changed", "labels[]", (property) => (property.items.maxLength = 9)],
  ["limit-changed", "limit-changed", "name", (property) => (property.allOf = [{ maxLength: 9 }])],
  ["enum-value-removed", "enum-value-added", "kind", (property) => property.enum.pop()],
  ["enum-value-removed", "enum-value-added", "name", (property) => (property.enum = ["Ada"])],
  ["enum-value-removed", "enum-value-added", "name", (property) => (property.const = "Ada")],
  ["nullability-changed", "nullability-changed", "kind", (property) => delete property.nullable],
  ["type-changed", "type-changed", "size", (property) => (property.type = "integer")],
  ["type-changed", "type-changed", "any", (property) => (property.type = "object")],
  ["type-changed", "type-changed", "extra.*", (property) => (property.additionalProperties = { type: "string" })],
  ["format-changed", "format-changed", "name", (property) => (property.format = "email")],
  [
    "alternative-changed",
    "alternative-changed",
    "any",
    (property) => (property.oneOf = [{ minLength: 1 }, { maxLength: 3 }]),
  ],
  ["property-required", "property-optional", "extra.id", (property) => (property.required = ["id"])],
];

/** Changes that no app notices. */
export const harmless: [claim: string, change: Change][] = [
  ["nothing changes", () => null],
  ["a path is added", (d) => (d.paths["/schools"] = { get: { operationId: "listSchools", responses: {} } })],
  [
    "an optional parameter is added",
    (d) => path(d).get.parameters.push({ name: "q", in: "query", schema: { type: "string" } }),
  ],
  ["a parameter moves from the operation to its path", (d) => path(d).parameters.push(path(d).get.parameters.pop())],
  ["a field is added to what apps read", (d) => (person(d).properties.email = { type: "string" })],
  ["an optional field is added to what apps send", (d) => (input(d).properties.email = { type: "string" })],
  ["a field that apps send may be left out", (d) => (input(d).required = [])],
  ["a field that apps read is always there now", (d) => person(d).required.push("nick")],
  ["what apps read is never null now", (d) => delete person(d).properties.nick.nullable],
  ["what apps send may be null now", (d) => (input(d).properties.last.nullable = true)],
  ["what apps read gets narrower", (d) => (person(d).properties.age.maximum = 120)],
  ["what apps read gets a format", (d) => (person(d).properties.nick.format = "email")],
  ["what apps send gets wider", (d) => (input(d).properties.last.maxLength = 200)],
  ["one more enum value may be sent", (d) => input(d).properties.role.enum.push("OTHER")],
  ["an error status is added", (d) => (path(d).get.responses["429"] = { description: "Slow down" })],
  ["a scope is no longer asked for", (d) => (path(d).get.security[0].app = [])],
  ["another way in is added", (d) => path(d).get.security.push({ other: [] })],
  ["an operation is gone after its sunset", (d) => delete d.paths["/people"].delete],
  ["a parameter is gone after its sunset", (d) => create(d).parameters.shift()],
  ["a property is gone after its sunset", (d) => delete sent(d).past],
  ["something is deprecated", (d) => (create(d).deprecated = true)],
  ["something is no longer deprecated", (d) => delete create(d).parameters[1].deprecated],
  ["a sunset comes later", (d) => (create(d).parameters[1]["x-sunset"] = "2028-08-01")],
  [
    "a default of OpenAPI is written down",
    (d) => Object.assign(create(d).parameters[2], { style: "form", explode: true }),
  ],
  ["a header is written in other letters", (d) => (create(d).parameters[3].name = "x-trace")],
  ["a required property is added that only the service sets", (d) => d.components.schemas.Sent.required.push("id")],
  ["an enum value is no longer answered", (d) => answered(d).kind.enum.pop()],
  ["one status is named of a range that is documented", (d) => (create(d).responses["404"] = { description: "No" })],
  ["one more alternative may be sent", (d) => (sent(d).pupil = sent(d).shape)],
  ["an alternative is described in other words", (d) => (person(d).properties.is.description = "Whoever")],
  ["a flow and a scope are added", (d) => Object.assign(flow(d).scopes, { "people:read": "Read" })],
  ["a tag is added behind the first", (d) => create(d).tags.push("More")],
  ["a server is added", (d) => d.servers.push({ url: "https://b.example.org" })],
  ["one answer gets a media type more", (d) => (create(d).responses["201"].content["text/xml"] = {})],
  [
    "null is written as in OpenAPI 3.1",
    (d) => {
      delete sent(d).kind.nullable;
      sent(d).kind.type = ["string", "null"];
    },
  ],
  [
    "a schema is named another way",
    (d) => {
      d.components.schemas.Human = person(d);
      path(d).get.responses["200"].content["application/json"].schema.$ref = "#/components/schemas/Human";
    },
  ],
  ["words change", (d) => (person(d).description = "Somebody")],
];
