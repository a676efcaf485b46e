import { createUploadLinks } from '../../../plugins/mcp/upload-links.ts'
import { MODEL, text } from '../../emulator/video-client.ts'
import { png } from '../../mcp/fixture.ts'
import { newEndedVideo, newResponse } from '../world.ts'
import type { MakeRequest, Requests } from './request.ts'

const to =
  (path: string, body?: object): MakeRequest =>
  () => ({ as: 'token', path, ...(body && { body }) })

const model = 'doubao-seed-emulated'
const messages = [{ role: 'user', content: 'Hello' }]
const tasks = '/api/v3/contents/generations/tasks'

const textRequests: Requests = {
  'POST /v1/chat/completions': to('/v1/chat/completions', { model, messages }),
  'POST /v1/responses': to('/v1/responses', { model, input: 'Hello' }),
  'POST /v1/embeddings': to('/v1/embeddings', { model: 'emulated-embedding', input: 'Hello' }),
  'POST /v1/completions': to('/v1/completions', { model: 'emulated-instruct', prompt: 'Hello' }),
  'POST /v1/responses/compact': to('/v1/responses/compact', { model, input: 'Hello' }),
  'POST /v1/responses/input_tokens': to('/v1/responses/input_tokens', { model, input: 'Hello' }),
  'GET /v1/responses': to('/v1/responses'),
  'POST /v1/messages': to('/v1/messages', { model, messages, max_tokens: 100 }),
  'POST /v1/messages/count_tokens': to('/v1/messages/count_tokens', { model, messages }),
  'GET /v1/responses/{}': ({ known }) => ({ as: 'token', path: `/v1/responses/${known.response}` }),
  'DELETE /v1/responses/{}': async (world) => ({ as: 'token', path: `/v1/responses/${await newResponse(world)}` }),
  'POST /v1/responses/{}/cancel': async (world) => ({
    ...{ as: 'token', path: `/v1/responses/${await newResponse(world, { background: true })}/cancel` },
  }),
  'GET /v1/responses/{}/input_items': ({ known }) => ({
    ...{ as: 'token', path: `/v1/responses/${known.response}/input_items` },
  }),
  'GET /v1/models': to('/v1/models'),
  'GET /v1/models/{}': to(`/v1/models/${model}`),
}

const videoRequests: Requests = {
  [`POST ${tasks}`]: to(tasks, { model: MODEL, content: [text('a cat')] }),
  [`GET ${tasks}`]: to(tasks),
  [`GET ${tasks}/{}`]: ({ known }) => ({ as: 'token', path: `${tasks}/${known.video}` }),
  [`DELETE ${tasks}/{}`]: async (world) => ({ as: 'token', path: `${tasks}/${await newEndedVideo(world)}` }),
  'POST /v1/videos': to('/v1/videos', { model: 'sora-2', prompt: 'a cat' }),
  'GET /v1/videos': to('/v1/videos'),
  'POST /v1/videos/edits': ({ known }) => ({
    ...{ as: 'token', path: '/v1/videos/edits', body: { prompt: 'a dog', video: { id: known.video } } },
  }),
  'POST /v1/videos/extensions': ({ known }) => ({
    ...{ as: 'token', path: '/v1/videos/extensions', body: { prompt: 'on', seconds: '8', video: { id: known.video } } },
  }),
  'GET /v1/videos/{}': ({ known }) => ({ as: 'token', path: `/v1/videos/${known.video}` }),
  'DELETE /v1/videos/{}': async (world) => ({ as: 'token', path: `/v1/videos/${await newEndedVideo(world)}` }),
  'GET /v1/videos/{}/content': ({ known }) => ({ as: 'token', path: `/v1/videos/${known.video}/content` }),
  'POST /v1/videos/{}/remix': ({ known }) => ({
    ...{ as: 'token', path: `/v1/videos/${known.video}/remix`, body: { prompt: 'a dog' } },
  }),
}

/** The link of an upload, as the tool of the MCP server makes it. */
const uploadLink: MakeRequest = async ({ store, credential }) => {
  const path = createUploadLinks([await store.secret('session')]).create(new Headers(credential), Date.now() + 600_000)
  return { as: 'nobody', path: `/mcp/uploads/${path}`, body: png }
}

/** Requests with a token for text, videos, files and events. */
export const generationRequests: Requests = {
  ...textRequests,
  ...videoRequests,
  'POST /api/uploads': to('/api/uploads', png),
  'GET /api/events': to('/api/events'),
  'GET /api/limits': to('/api/limits'),
  'POST /mcp': () => ({
    ...{ as: 'token', path: '/mcp', headers: { accept: 'application/json, text/event-stream' } },
    body: { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'list_groups', arguments: {} } },
  }),
  'PUT /mcp/uploads/{}': uploadLink,
  'POST /mcp/uploads/{}': uploadLink,
}
