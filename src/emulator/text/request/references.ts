import { isJson, type Reader } from '../../shared/reader.ts'
import type { TestObjectKind, TextObjects } from '../objects/objects.ts'
import { OpenAIError } from '../openai-error.ts'

/** The error message for an unknown object of each kind. */
const notFound: Readonly<Record<TestObjectKind, (id: string) => string>> = {
  file: (id) => `No such File object: ${id}.`,
  prompt: (id) => `Prompt with id '${id}' not found.`,
  container: (id) => `Container with id '${id}' not found.`,
  vector_store: (id) => `Vector store with id '${id}' not found.`,
  audio: (id) => `Audio with id '${id}' not found.`,
}

/** Fields whose value is an id or a list of ids, at any depth. */
const fields: Readonly<Record<string, TestObjectKind>> = {
  ...{ file_id: 'file', file_ids: 'file', vector_store_ids: 'vector_store' },
  ...{ container: 'container', container_id: 'container' },
}

/** Fields whose value is an object with an `id`. */
const holders: Readonly<Record<string, TestObjectKind>> = { prompt: 'prompt', audio: 'audio' }

const searched = ['messages', 'input', 'tools', 'prompt', 'tool_resources', 'attachments'] as const

/**
 * The names of the files, prompts, containers and other objects that a request references. Throws 404 for an unknown
 * id.
 */
export const referencedNames = (request: Reader, objects: TextObjects): string[] =>
  searched
    .flatMap((name) => [...idsIn(name, request.raw[name], name)])
    .map(({ kind, id, param }) => {
      const found = objects.testObject(kind, id)
      if (found === undefined) throw new OpenAIError(404, notFound[kind](id), { param })
      return found.name
    })

interface Reference {
  readonly kind: TestObjectKind
  readonly id: string
  readonly param: string
}

function* idsIn(name: string, value: unknown, param: string): Iterable<Reference> {
  const kind = fields[name]
  const holder = holders[name]
  if (kind !== undefined) {
    for (const id of [value].flat()) if (typeof id === 'string') yield { kind, id, param }
  }
  if (holder !== undefined && isJson(value) && typeof value.id === 'string') yield { kind: holder, id: value.id, param }
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) yield* idsIn('', one, `${param}[${index}]`)
  } else if (isJson(value)) {
    for (const [key, one] of Object.entries(value)) yield* idsIn(key, one, `${param}.${key}`)
  }
}
