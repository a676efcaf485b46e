import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createMcpHandler,
  type InputRequiredResult,
  inputRequired,
  ProtocolError,
  ProtocolErrorCode,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { Value } from '@sinclair/typebox/value'
import type { Clock } from '../shared/clock.ts'
import { inFlightOf } from '../shared/http/in-flight.ts'
import { noStoreHeaders } from '../shared/http/no-store.ts'
import type { Identity } from '../shared/identity/identify.ts'
import { membersOf } from '../shared/json/parsed.ts'
import type { Log } from '../shared/problem.ts'
import { ApiError, type AppFetch, createCallerApi } from './api.ts'
import { failureOf } from './failure.ts'
import { ConfirmationNeeded, InputError, type McpTool, permitsTool } from './tool.ts'

/** What the protocol needs of the plugin. */
export interface ProtocolOptions {
  readonly tools: readonly McpTool[]
  readonly fetch: AppFetch
  readonly clock: Clock
  readonly log: Log
}

/** A request to the MCP server, whose caller is known and whose body was read. */
export interface ProtocolRequest {
  readonly request: Request
  readonly identity: Identity
  /** The JSON of its body. */
  readonly message: unknown
}

/**
 * Responds to one message of a client, in the Streamable HTTP transport of the protocol.
 *
 * Nothing outlives the response, so that any process can serve the next message: there are no sessions, no streams
 * without a request, and no requests from the server to the client.
 */
export const respondToMessage = async (received: ProtocolRequest, options: ProtocolOptions): Promise<Response> => {
  const { request, identity, message } = received
  const inFlight = inFlightOf(request)
  const revoked = new AbortController()
  const isCall = membersOf(message).method === 'tools/call'
  inFlight?.streaming()
  const unwatch = isCall ? identity.whenRevoked?.(() => revoked.abort()) : undefined
  const end = () => {
    inFlight?.streamed()
    unwatch?.()
  }
  try {
    const handler = createMcpHandler(({ era }) => createServer(received, revoked.signal, era === 'modern', options), {
      maxSubscriptions: 0,
    })
    return withEnd(await handler.fetch(request, { parsedBody: message }), end)
  } catch (error) {
    end()
    throw error
  }
}

const instructions =
  'Makes videos, and keeps a library of pictures, videos and audio files for them. From a local file to a video: create_upload_link, send the file, create_asset, price_video, create_video, wait_for_video.'

/** The server for one message. @param isModern whether the client speaks protocol version 2026-07-28 or a later one */
const createServer = (
  { request, identity }: ProtocolRequest,
  revoked: AbortSignal,
  isModern: boolean,
  options: ProtocolOptions,
): Server => {
  const permitted = options.tools.filter((tool) => permitsTool(identity, tool))
  const server = new Server({ name: 'sluice', version: '1' }, { capabilities: { tools: {} }, instructions })
  server.setRequestHandler('tools/list', async () => ({ tools: permitted.map(described) }))
  server.setRequestHandler('tools/call', async ({ params }, context) => {
    const tool = permitted.find(({ name }) => name === params.name)
    // One answer for a tool that does not exist, and one that the scopes do not allow.
    if (!tool) throw new ProtocolError(ProtocolErrorCode.InvalidParams, 'there is no such tool')
    const input = params.arguments ?? {}
    const wrong = Value.Errors(tool.input, input).First()
    if (wrong) return failed({ error: { message: `${wrong.path || 'the input'}: ${wrong.message}` } })
    if (isDeclined(context)) return failed({ error: { message: 'the person has declined' } })
    const signal = AbortSignal.any([context.mcpReq.signal, request.signal, revoked])
    try {
      const result = await tool.run(input as never, {
        ...{ api: createCallerApi(options.fetch, request, signal), user: identity.user },
        ...{ headers: request.headers, clock: options.clock, signal },
        confirmed: confirmedBy(context),
        progress: (seconds, text) => notifyProgress(seconds, text, context),
      })
      return revoked.aborted ? failed({ error: { status: 401, message: 'not authenticated' } }) : succeeded(result)
    } catch (error) {
      if (error instanceof ApiError) return failed(failureOf(error))
      if (error instanceof InputError) return failed({ error: { message: error.message } })
      if (error instanceof ConfirmationNeeded) {
        const { message, confirmation, details } = error
        if (isModern && canAsk(context) && !isUnanswered(context)) return ask(message, confirmation)
        return succeeded({ confirmation_needed: message, confirm: confirmation, price: details })
      }
      if (!signal.aborted) options.log.error({ err: error, tool: tool.name }, 'a tool of the MCP server failed')
      return failed({ error: { status: 500, message: 'internal error' } })
    }
  })
  return server
}

const described = ({ name, title, description, input, onlyReads }: McpTool) => ({
  ...{ name, title, description },
  inputSchema: input as typeof input & { type: 'object' },
  // A creation adds, and destroys nothing.
  annotations: { readOnlyHint: onlyReads, destructiveHint: false, openWorldHint: true },
})

const resultOf = (content: object, isError: boolean): CallToolResult => ({
  content: [{ type: 'text', text: JSON.stringify(content) }],
  structuredContent: { ...content },
  ...(isError && { isError }),
})
const succeeded = (content: object): CallToolResult => resultOf(content, false)
const failed = (content: object): CallToolResult => resultOf(content, true)

const notifyProgress = async (progress: number, message: string, { mcpReq }: ServerContext): Promise<void> => {
  const { progressToken } = mcpReq._meta ?? {}
  if (progressToken === undefined) return
  // A client that has left gets none.
  await mcpReq
    .notify({ method: 'notifications/progress', params: { progressToken, progress, message } })
    .catch(() => {})
}

/** The dialog's name in a request, and of its one field. */
const confirmKey = 'confirm'

/** Whether the client can show a form to the person. A client that names no mode has forms. */
const canAsk = ({ mcpReq }: ServerContext): boolean => {
  const { elicitation } = membersOf(membersOf(mcpReq.envelope)[CLIENT_CAPABILITIES_META_KEY])
  if (typeof elicitation !== 'object' || elicitation === null) return false
  return 'form' in elicitation || Object.keys(elicitation).length === 0
}

/** Asks the person. The client repeats its call with the answer and the state, and any process can take it. */
const ask = (message: string, confirmation: string): InputRequiredResult =>
  inputRequired({
    inputRequests: {
      [confirmKey]: inputRequired.elicit({
        message,
        requestedSchema: {
          type: 'object',
          properties: { [confirmKey]: { type: 'boolean', title: 'Create it' } },
          required: [confirmKey],
        },
      }),
    },
    requestState: confirmation,
  })

const answerTo = ({ mcpReq }: ServerContext): unknown => mcpReq.inputResponses?.[confirmKey]

/**
 * Whether nobody has decided: the person has closed the dialog, or the client runs without a person, as Claude Code
 * does with `-p`. Then the call has the answer for clients without dialogs.
 */
const isUnanswered = (context: ServerContext): boolean => membersOf(answerTo(context)).action === 'cancel'

const isDeclined = (context: ServerContext): boolean =>
  answerTo(context) !== undefined && !isUnanswered(context) && confirmedBy(context) === undefined

/** The confirmation of a dialog to which the person has agreed. It was signed, and is verified by the tool. */
const confirmedBy = ({ mcpReq }: ServerContext): string | undefined => {
  const content = acceptedContent(mcpReq.inputResponses, confirmKey)
  return content?.[confirmKey] === true ? mcpReq.requestState<string>() : undefined
}

/** The response, with `end` called once it has been read, or nobody reads it any more. */
const withEnd = ({ status, headers, body }: Response, end: () => void): Response => {
  const sent = new Headers({ ...Object.fromEntries(headers), ...noStoreHeaders })
  // It is about one connection, which is the server's affair.
  sent.delete('connection')
  if (!sent.get('content-type')?.startsWith('text/event-stream') || !body) {
    end()
    return new Response(body, { status, headers: sent })
  }
  const reader = body.getReader()
  const stream = new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const { done, value } = await reader.read()
          if (!done) return controller.enqueue(value)
          controller.close()
        } catch (error) {
          controller.error(error)
        }
        end()
      },
      cancel(reason) {
        end()
        return reader.cancel(reason)
      },
    },
    { highWaterMark: 0 },
  )
  return new Response(stream, { status, headers: sent })
}
