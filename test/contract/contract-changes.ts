/* eslint-disable @typescript-eslint/no-explicit-any, @typescript-eslint/no-unsafe-member-access,
   @typescript-eslint/no-unsafe-call --
   planted changes reach into a document as a careless hand would */
import { parse } from "yaml";
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

/** What the changes below start from. */
const roots: Record<string, (document: Loose) => Loose> = {
  document: (d) => d,
  paths: (d) => d.paths,
  create: (d) => d.paths["/people"].post,
  collection: (d) => d.paths["/people"],
  item: (d) => d.paths["/people/{id}"],
  callback: (d) => d.paths["/people"].post.callbacks.created["{$request.body#/url}"].post,
  schemas: (d) => d.components.schemas,
  schemes: (d) => d.components.securitySchemes,
  person: (d) => d.components.schemas.Person,
  input: (d) => d.components.schemas.NewPerson,
  sent: (d) => d.components.schemas.Sent.properties,
  answered: (d) => d.components.schemas.Answered.properties,
};

/**
 * Makes changes as the tables write them, with `; ` between them.
 *
 * Shape: `root.a.b = YAML` sets, `root.a += YAML` adds to a list, `root.a -` removes; `@root.a` is what is there.
 */
export function change(document: object, changes: string): void {
  for (const one of changes.split("; ")) {
    const [, place, operator, text = ""] = /^(\S+) (=|\+=|-) ?(.*)$/.exec(one.trim())!;
    const { holder, key } = find(document, place!);
    const value = (): unknown => {
      if (!text.startsWith("@")) return parse(text);
      const from = find(document, text.slice(1));
      return structuredClone(from.holder[from.key]) as unknown;
    };
    if (operator === "=") holder[key] = value();
    else if (operator === "+=") holder[key].push(value());
    else if (Array.isArray(holder)) holder.splice(Number(key), 1);
    else Reflect.deleteProperty(holder as object, key);
  }
}

function find(document: object, place: string): { holder: Loose; key: string } {
  const [root = "", ...path] = place.split(".");
  const key = path.pop()!;
  return { holder: path.reduce((node: Loose, name) => node[name], roots[root]!(document)), key };
}

/** The rows of a table that is written with ` | ` between its cells. */
export const rowsOf = (table: string): string[][] =>
  table
    .trim()
    .split("\n")
    .map((line) => line.split(" | ").map((cell) => cell.trim()));

/**
 * Each wrong change and the one break that it is: kind, where, change.
 *
 * The mirror of a change, from the new contract to the old one, breaks nobody, or is the kind after `<>`, the same one
 * if none is named there.
 */
export const planted = rowsOf(`
path-removed | /people/{id} | paths./people/{id} -
path-parameter-renamed <> | /people/{id} id | item.parameters.0.name = personId; paths./people/{personId} = @paths./people/{id}; paths./people/{id} -
operation-removed | PUT /people/{id} | item.put -
operation-id-changed <> | GET /people/{id} | item.get.operationId = findPerson
security-changed <> | GET /people/{id} | item.get.security = [{ app: [users:read] }]
security-changed | GET /people/{id} | item.get.security.0.app += more:read
security-changed | POST /people | create.security.1 -
security-scheme-changed <> | app | schemes.app = { type: http, scheme: basic }
security-scheme-changed <> | app | schemes.app.flows.clientCredentials.tokenUrl = /other
security-scheme-changed <> | app | schemes.app.flows = { implicit: { tokenUrl: /token, scopes: { people:write: Change } } }
security-scheme-changed <> | key | schemes.key.name = X-Other
scope-removed | app clientCredentials people:write | schemes.app.flows.clientCredentials.scopes.people:write -
server-removed <> | https://api.example.org | document.servers.0.url = https://b.example.org
tag-changed <> | POST /people | create.tags = [All, People]
parameter-removed | GET /people/{id} query since | item.get.parameters.2 -
parameter-removed | POST /people query ending | create.parameters.1 -
parameter-required | GET /people/{id} query since | item.get.parameters.2.required = true
parameter-required <> parameter-removed | GET /people/{id} header X-New | item.get.parameters += { name: X-New, in: header, required: true, schema: { type: string } }
parameter-moved <> | POST /people header X-Trace | create.parameters.3.in = cookie
parameter-style-changed <> | GET /people/{id} query lang | item.get.parameters.0.style = deepObject
parameter-style-changed <> | POST /people query ids | create.parameters.2.explode = false
parameter-style-changed | POST /people query ids | create.parameters.2.allowReserved -
sunset-earlier | POST /people query ending | create.parameters.1.x-sunset = "2027-01-01"
sunset-earlier | POST /people query ending | create.parameters.1.x-sunset -
default-changed <> | GET /people/{id} query lang | item.get.parameters.0.schema.default = en
enum-value-removed | GET /people/{id} query lang | item.get.parameters.0.schema.enum.0 -
enum-value-removed | GET /people/{id} query since | item.get.parameters.2.schema.enum = [today]
nullability-changed | GET /people/{id} query lang | item.get.parameters.0.schema.nullable -
type-changed <> | GET /people/{id} query since | item.get.parameters.2.schema = { type: integer }
format-changed | GET /people/{id} query since | item.get.parameters.2.schema.format = date
limit-changed | GET /people/{id} query limit | item.get.parameters.1.schema.maximum = 50
limit-changed | GET /people/{id} query since | item.get.parameters.2.schema.pattern = ^2
status-removed | GET /people/{id} 404 | item.get.responses.404 -
status-removed | POST /people 4XX | create.responses.4XX -
success-added <> status-removed | GET /people/{id} 202 | item.get.responses.202 = { description: Later }
success-added <> status-removed | POST /people 303 | create.responses.303 = { description: There }
header-removed | GET /people/{id} 200 ETag | item.get.responses.200.headers -
header-optional | POST /people 201 Location | create.responses.201.headers.Location.required -
limit-changed | POST /people 201 Location | create.responses.201.headers.Location.schema.maxLength = 300
media-type-removed <> | GET /people/{id} 200 application/json | item.get.responses.200.content = { application/xml: {} }
media-type-removed | PUT /people/{id} body application/xml | item.put.requestBody.content.application/xml -
encoding-changed <> | POST /people body multipart/form-data | create.requestBody.content.multipart/form-data.encoding -
body-required | PUT /people/{id} body | item.put.requestBody.required = true
body-removed <> body-required | POST /people body | create.requestBody -
property-removed | GET /people/{id} 200.nick | person.properties.nick -
property-removed | GET /people/{id} 200.name.first | schemas.Name.properties.first -
property-removed | GET /people/{id} 200.marks.* | person.properties.marks.additionalProperties = false
property-removed | PUT /people/{id} body.note | input.properties.note -
property-removed | POST /people body.name | sent.name.readOnly = true
property-removed | POST /people 201.name | answered.name.writeOnly = true
property-removed | Token.sub | schemas.Token = { type: object }
schema-removed | Token | schemas.Token -
property-optional | GET /people/{id} 200.role | person.required.1 -
property-required | PUT /people/{id} body.nick | input.required += nick
type-changed | GET /people/{id} 200.age | person.properties.age.type = number
type-changed <> | GET /people/{id} 200.friends[] | person.properties.friends.items = { type: string }
type-changed | GET /people/{id} 200.nick | person.properties.nick.type -
type-changed | PUT /people/{id} body.age | input.properties.age.type = integer
format-changed | GET /people/{id} 200.id | person.properties.id.format -
nullability-changed | GET /people/{id} 200.role | person.properties.role.nullable = true
nullability-changed | PUT /people/{id} body.nick | input.properties.nick.nullable -
enum-value-added | GET /people/{id} 200.role | person.properties.role.enum += OTHER
enum-value-added | GET /people/{id} 200.role | person.properties.role.enum -
limit-changed | GET /people/{id} 200.age | person.properties.age.maximum -
limit-changed | PUT /people/{id} body.last | input.properties.last.maxLength = 50
object-closed | PUT /people/{id} body | input.additionalProperties = false
object-closed | POST /people body.extra | sent.extra.additionalProperties = false
alternative-changed | GET /people/{id} 200.is | person.properties.is.oneOf += { type: string }
alternative-changed | POST /people 201.pupil | answered.pupil = @answered.shape
discriminator-changed <> | POST /people body.shape | sent.shape.discriminator.propertyName = is
discriminator-changed <> | POST /people body.shape | sent.shape.discriminator.mapping.pupil = "#/x"
discriminator-changed | POST /people 201.shape | answered.shape.discriminator.mapping.head = "#/x"
discriminator-changed <> | POST /people 201.shape | answered.shape.discriminator.mapping.pupil -
unknown-change <> | GET /people/{id} 200.nick | person.properties.nick.not = { enum: [x] }
path-removed | POST /people calls {$request.body#/url} | create.callbacks -
security-changed | RECEIVE | callback.security = []
parameter-removed | RECEIVE header X-Signature | callback.parameters -
parameter-optional | RECEIVE header X-Signature | callback.parameters.0.required -
body-optional | RECEIVE body | callback.requestBody.required -
media-type-added | RECEIVE body text/xml | callback.requestBody.content.text/xml = {}
property-optional | RECEIVE body.id | callback.requestBody.content.application/json.schema.required.0 -
enum-value-added | RECEIVE body.kind | callback.requestBody.content.application/json.schema.properties.kind.enum += CHANGED
status-removed | RECEIVE 410 | callback.responses.410 -
header-required | RECEIVE 204 X-Seen | callback.responses.204.headers = { X-Seen: { required: true, schema: { type: string } } }
`).map(([kinds = "", where = "", changes = ""]) => {
  const [kind, mirror] = kinds.split(/ ?<> ?/) as [Kind, (Kind | "")?];
  // What the service calls: it sends the body, and the app answers.
  const place = where.replace("RECEIVE", "POST /people calls POST {$request.body#/url}");
  return { kind, mirror: mirror === "" ? kind : mirror, where: place, changes };
});

/**
 * Changes by which a schema allows less: breaks in what apps send, none in what they read, and the other way round
 * where they are taken back.
 *
 * Shape: the kind in what apps send, the kind in what they read when it is taken back, the property, the change to it.
 */
export const narrowing = rowsOf(`
limit-changed | limit-changed | size | size.minimum = 2
limit-changed | limit-changed | size | size.exclusiveMinimum = 2
limit-changed | limit-changed | size | size.maximum = 8
limit-changed | limit-changed | size | size.exclusiveMaximum = 8
limit-changed | limit-changed | size | size.exclusiveMinimum = true
limit-changed | limit-changed | size | size.minimum -; size.exclusiveMinimum = 1
limit-changed | limit-changed | size | size.multipleOf = 4
limit-changed | limit-changed | name | name.minLength = 2
limit-changed | limit-changed | name | name.maxLength = 8
limit-changed | limit-changed | name | name.pattern = ^A
limit-changed | limit-changed | name | name.allOf = [{ maxLength: 9 }]
limit-changed | limit-changed | labels | labels.minItems = 2
limit-changed | limit-changed | labels | labels.maxItems = 8
limit-changed | limit-changed | labels | labels.uniqueItems = true
limit-changed | limit-changed | labels[] | labels.items.maxLength = 9
limit-changed | limit-changed | extra | extra.minProperties = 2
limit-changed | limit-changed | extra | extra.maxProperties = 8
enum-value-removed | enum-value-added | kind | kind.enum.1 -
enum-value-removed | enum-value-added | name | name.enum = [Ada]
enum-value-removed | enum-value-added | name | name.const = Ada
nullability-changed | nullability-changed | kind | kind.nullable -
type-changed | type-changed | size | size.type = integer
type-changed | type-changed | any | any.type = object
type-changed | type-changed | extra.* | extra.additionalProperties = { type: string }
format-changed | format-changed | name | name.format = email
alternative-changed | alternative-changed | any | any.oneOf = [{ minLength: 1 }, { maxLength: 3 }]
property-required | property-optional | extra.id | extra.required = [id]
`).map(([inSent, inAnswered, at = "", changes = ""]) => ({
  inSent: inSent as Kind,
  inAnswered: inAnswered as Kind,
  at,
  changesOf: (root: "sent" | "answered") => changes.replaceAll(/(?<=^|; )/g, `${root}.`),
}));

/** Changes that no app notices. */
export const harmless = rowsOf(`
a path is added | paths./schools = { get: { operationId: listSchools, responses: {} } }
an optional parameter is added | item.get.parameters += { name: q, in: query, schema: { type: string } }
a parameter moves from the operation to its path | item.parameters += @item.get.parameters.2; item.get.parameters.2 -
a field is added to what apps read | person.properties.email = { type: string }
an optional field is added to what apps send | input.properties.email = { type: string }
a field that apps send may be left out | input.required = []
a field that apps read is always there now | person.required += nick
what apps read is never null now | person.properties.nick.nullable -
what apps send may be null now | input.properties.last.nullable = true
what apps read gets narrower | person.properties.age.maximum = 120
what apps read gets a format | person.properties.nick.format = email
what apps send gets wider | input.properties.last.maxLength = 200
one more enum value may be sent | input.properties.role.enum += OTHER
an error status is added | item.get.responses.429 = { description: Slow down }
a scope is no longer asked for | item.get.security.0.app = []
another way in is added | item.get.security += { other: [] }
an operation is gone after its sunset | collection.delete -
a parameter is gone after its sunset | create.parameters.0 -
a property is gone after its sunset | sent.past -
something is deprecated | create.deprecated = true
something is no longer deprecated | create.parameters.1.deprecated -
a sunset comes later | create.parameters.1.x-sunset = "2028-08-01"
a default of OpenAPI is written down | create.parameters.2.style = form; create.parameters.2.explode = true
a header is written in other letters | create.parameters.3.name = x-trace
a required property is added that only the service sets | schemas.Sent.required += id
an enum value is no longer answered | answered.kind.enum.1 -
one status is named of a range that is documented | create.responses.404 = { description: No }
one more alternative may be sent | sent.pupil = @sent.shape
an alternative is described in other words | person.properties.is.description = Whoever
a flow and a scope are added | schemes.app.flows.clientCredentials.scopes.people:read = Read
a tag is added behind the first | create.tags += More
a server is added | document.servers += { url: "https://b.example.org" }
one answer gets a media type more | create.responses.201.content.text/xml = {}
null is written as in OpenAPI 3.1 | sent.kind.nullable -; sent.kind.type = [string, "null"]
a schema is named another way | schemas.Human = @schemas.Person; item.get.responses.200.content.application/json.schema.$ref = "#/components/schemas/Human"
words change | person.description = Somebody
`);
