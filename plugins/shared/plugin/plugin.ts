import type { CreateEden, Elysia } from 'elysia'
import type { GuardContext } from '../http/error-handler.ts'
import type { ErrorBody } from './openapi.ts'

// The types that are not exported are aliases, not interfaces: a compiler that writes the declarations of a host app
// writes out such an alias, while it would have to import an interface, or an exported alias, from this file.

type Empty = Record<never, never>

type NoContext = {
  derive: Empty
  resolve: Empty
  schema: Empty
  standaloneSchema: Empty
  response: Empty
}

type NoSingleton = {
  decorator: Empty
  store: Empty
  derive: Empty
  resolve: Empty
}

type NoDefinitions = {
  typebox: Empty
  error: Empty
}

type NoMetadata = {
  schema: Empty
  standaloneSchema: Empty
  macro: Empty
  macroFn: Empty
  parser: Empty
  response: Empty
}

/** What a macro takes as its parameter, and what it adds to the context of a route. */
export type MacroTypes = {
  readonly parameter: true | string | object
  readonly context: Record<string, unknown>
}

/** The functions that implement these macros, for `satisfies`: `AnyElysia` accepts any. */
export type MacroFunctions<Macros extends Record<string, MacroTypes>> = {
  [Name in keyof Macros]: (parameter: Macros[Name]['parameter']) => {
    resolve: (context: GuardContext & { params: unknown }) => Promise<Macros[Name]['context']>
  }
}

type MacroMetadata<Macros extends Record<string, MacroTypes>> = {
  schema: Empty
  standaloneSchema: Empty
  macro: { [Name in keyof Macros]?: Macros[Name]['parameter'] }
  macroFn: {
    [Name in keyof Macros]: (parameter: Macros[Name]['parameter']) => {
      resolve: () => Promise<Macros[Name]['context']>
    }
  }
  parser: Empty
  response: Empty
}

type DerivedContext<Context extends Record<string, unknown>> = {
  derive: Context
  resolve: Empty
  schema: Empty
  standaloneSchema: Empty
  response: Empty
}

/** A plugin that adds macros, by the name of each, and routes to the app that uses it. */
export type MacroPlugin<
  Macros extends Record<string, MacroTypes>,
  Routes extends Record<string, unknown> = Empty,
> = Elysia<'', NoSingleton, NoDefinitions, MacroMetadata<Macros>, Routes, NoContext, NoContext>

/** A plugin that adds members to the context of the routes of the app that uses it. */
export type ContextPlugin<Context extends Record<string, unknown>> = Elysia<
  '',
  NoSingleton,
  NoDefinitions,
  NoMetadata,
  Empty,
  DerivedContext<Context>,
  NoContext
>

/**
 * A plugin that adds routes or hooks, and nothing to the context of other routes.
 *
 * `Routes` describes them for Eden, in the form of Elysia's own type parameter.
 */
export type RoutesPlugin<Routes extends Record<string, unknown> = Empty> = Elysia<
  string,
  NoSingleton,
  NoDefinitions,
  NoMetadata,
  Routes,
  NoContext,
  NoContext
>

/**
 * One method of a path, in the form of Elysia's type parameter: the types of its responses by status, and of the parts
 * of its request. A member `body` of type undefined: the request needs no body.
 */
export type Route<Responses extends Record<number, unknown>, Parts extends RouteParts = Empty> = {
  body: Parts extends { readonly body: infer Body } ? Body : undefined
  query: Parts extends { readonly query: infer Query } ? Query : unknown
  params: Parts extends { readonly params: infer Params } ? Params : Empty
  headers: unknown
  response: Responses
}

/** The types of the parts of a request. */
export type RouteParts = { readonly body?: unknown; readonly query?: unknown; readonly params?: unknown }

/** The responses of a route: `Success` with status 200, and `Failure` with each of the statuses. */
export type Responses<Success, Failure, Status extends number> = { 200: Success } & { [Each in Status]: Failure }

/** A route whose errors are all of this service, with the default body: `Success`, or one of the statuses. */
export type ServiceRoute<Success, Status extends number, Parts extends RouteParts = Empty> = Route<
  Responses<Success, ErrorBody, Status>,
  Parts
>

/** Routes below a base path. None when the compiler does not know the path. */
export type RoutesAt<Prefix extends string, Routes extends Record<string, unknown>> = string extends Prefix
  ? Empty
  : CreateEden<Prefix, Routes>
