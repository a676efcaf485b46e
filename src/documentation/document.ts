import { toOpenAPISchema } from '@elysiajs/openapi'
import type { AnyElysia } from 'elysia'
import type { DocumentedOperation, Specification } from './specification.ts'

const version = '3.2.0'

/** Each scheme is sufficient by itself. */
const anyToken = ['token', 'tokenInXApiKey', 'tokenInApiKey'] as const

/** The security of the routes with a tag, unless a route says otherwise. */
const securityByTag: Readonly<Record<string, readonly (keyof typeof securitySchemes)[]>> = {
  'asset library': anyToken,
  'text generation': anyToken,
  'video generation': anyToken,
  MCP: anyToken,
  'face verification': ['session'],
  events: [...anyToken, 'session'],
  files: [...anyToken, 'session'],
  webhooks: ['session'],
  'web session': ['session'],
  account: ['session'],
  'API tokens': ['session'],
  usage: ['session'],
  administration: [...anyToken, 'session'],
  operation: ['metricsToken'],
}

const tags: Readonly<Record<keyof typeof securityByTag, string>> = {
  'asset library': 'Asset groups and assets of the caller',
  'text generation': 'The protocols of OpenAI: chat completions and responses',
  MCP: 'Tools for programs that speak the Model Context Protocol',
  'video generation': "Videos of one's own assets",
  'face verification': 'Groups for real persons. A person confirms with the face, on a phone',
  files: 'Uploads of images, videos and audio files, and links to files',
  events: 'What happens to the video tasks, assets and face verifications of the caller',
  webhooks: 'Addresses that are told of the events of the caller',
  'web session': 'Login with a cookie. A request that changes something must come from a page of this service',
  account: "The caller's own account, its sessions, and invitations",
  'API tokens': 'The tokens of the caller',
  usage: 'What the caller has used',
  administration: 'Users, teams, tokens, usage and the audit trail, for admins',
  operation: 'For operators',
}

const securitySchemes = {
  token: { type: 'http', scheme: 'bearer', description: 'API token, sk-…' },
  tokenInXApiKey: { type: 'apiKey', in: 'header', name: 'x-api-key', description: 'The same API token' },
  tokenInApiKey: { type: 'apiKey', in: 'header', name: 'api-key', description: 'The same API token' },
  session: { type: 'apiKey', in: 'cookie', name: 'session', description: 'Cookie of a login' },
  metricsToken: { type: 'http', scheme: 'bearer', description: 'The setting METRICS_TOKEN' },
}

/** Creates the OpenAPI document of all routes of the app that uses a plugin. Routes describe themselves in `detail`. */
export const createDocument = (plugin: AnyElysia): Specification => {
  const { paths } = toOpenAPISchema(plugin) as Pick<Specification, 'paths'>
  for (const { method, path, hooks } of routesOf(plugin)) {
    const operation = paths[path.replace(/:([^/]+)/g, '{$1}')]?.[method.toLowerCase()] as Mutable | undefined
    if (!operation) continue
    // @elysiajs/openapi (1.4.16) overwrites the parameters of a route that has parameters in its path.
    if (hooks.detail?.parameters) operation.parameters = hooks.detail.parameters
    const schemes = securityByTag[operation.tags?.[0] ?? '']
    if (schemes) operation.security ??= schemes.map((scheme) => ({ [scheme]: [] }))
  }
  const used = new Set(Object.values(paths).flatMap((each) => Object.values(each).flatMap(({ tags = [] }) => tags)))
  return {
    openapi: version,
    info: {
      title: 'sluice',
      version: '1',
      description: 'Each user has a media asset library of their own, on an upstream account that all users share.',
      license: { name: 'MIT', identifier: 'MIT' },
    },
    // Relative to the address of this document, `/openapi/json`: a proxy may serve it below a prefix.
    servers: [{ url: '..' }],
    tags: Object.entries(tags).flatMap(([name, description]) => (used.has(name) ? [{ name, description }] : [])),
    components: { securitySchemes },
    paths: JSON.parse(JSON.stringify(paths)),
  }
}

/** The routes of the whole app, which the documentation plugin of Elysia reads too. */
const routesOf = (plugin: object): AnyElysia['routes'] =>
  (plugin as { getGlobalRoutes(): AnyElysia['routes'] }).getGlobalRoutes()

type Mutable = { -readonly [Key in keyof DocumentedOperation]: DocumentedOperation[Key] }

/**
 * Moves each schema that has a title to `components`, so that generated clients have a named type for it. Throws for
 * two schemas with one title.
 */
export const withComponents = (document: Specification): Specification => {
  const schemas: Record<string, unknown> = {}
  const replace = (value: unknown): unknown => {
    if (Array.isArray(value)) return value.map(replace)
    if (typeof value !== 'object' || value === null) return value
    const copy = Object.fromEntries(Object.entries(value).map(([key, member]) => [key, replace(member)]))
    const { title } = copy
    if (typeof title !== 'string') return copy
    if (schemas[title] && JSON.stringify(schemas[title]) !== JSON.stringify(copy))
      throw new Error(`two schemas have the title ${title}`)
    schemas[title] = copy
    return { $ref: `#/components/schemas/${title}` }
  }
  const paths = replace(document.paths) as Specification['paths']
  return { ...document, paths, components: { ...document.components, schemas } }
}
