/** A JSON object, read-only. */
export type JsonObject = Readonly<Record<string, unknown>>

/** An OpenAPI 3.1 document. Only the parts in use are typed. */
export interface OpenApiDocument {
  readonly openapi: '3.1.0'
  readonly info: JsonObject
  readonly servers: readonly JsonObject[]
  readonly security: readonly JsonObject[]
  readonly tags: readonly JsonObject[]
  /** Operations by path and lower-case method. */
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>
  readonly components: Readonly<Record<string, Readonly<Record<string, JsonObject>>>>
}

export interface Operation extends JsonObject {
  readonly operationId: string
  /** Responses by status. */
  readonly responses: Readonly<Record<string, JsonObject>>
}
