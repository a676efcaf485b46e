import { type Effect, type Effects, gone, reads, withId } from './effect.ts'

const tasks = '/api/v3/contents/generations/tasks'

const isUploaded: Effect = async (world, { json }) => {
  const { pathname, search } = new URL(json.upload.url)
  return reads(world, 'nobody', pathname + search)
}

/** The effects of what writes with a token: stored responses, videos and files. */
export const generationEffects: Effects = {
  // A part of a response, at the time limit, is not kept.
  'POST /v1/responses': async (world, { request: { as }, json }) =>
    json.status === 'incomplete' || reads(world, as, `/v1/responses/${json.id}`),
  'DELETE /v1/responses/{}': gone,
  [`POST ${tasks}`]: withId(tasks, (json) => json.id),
  [`DELETE ${tasks}/{}`]: gone,
  'POST /v1/videos': withId('/v1/videos', (json) => json.id),
  'POST /v1/videos/edits': withId('/v1/videos', (json) => json.id),
  'POST /v1/videos/extensions': withId('/v1/videos', (json) => json.id),
  'POST /v1/videos/{}/remix': withId('/v1/videos', (json) => json.id),
  'DELETE /v1/videos/{}': gone,
  'POST /api/uploads': isUploaded,
  'PUT /mcp/uploads/{}': isUploaded,
  'POST /mcp/uploads/{}': isUploaded,
}
