import { Type } from '@sinclair/typebox'
import type { VideoTaskObject, VideoTaskPageBody } from '../../video-generation/index.ts'
import { toolAdviceFor } from '../failure.ts'
import { defineTool, type McpTool } from '../tool.ts'
import { waitFor } from '../waiting.ts'
import { idInput, secondsToWait, wordInput } from './inputs.ts'

const videoId = idInput('The video_id of create_video')

/** Videos of one page. */
const maxVideos = 50

/** Tools that read video tasks. @param maxWaitMs the longest wait of one call */
export const taskTools = (videos: string, maxWaitMs: number): readonly McpTool[] => {
  const tasks = `${videos}/contents/generations/tasks`
  const pathOf = (id: string) => `${tasks}/${encodeURIComponent(id)}`
  const reading = { scope: 'video', onlyReads: true } as const
  return [
    defineTool({
      name: 'wait_for_video',
      title: 'Wait for a video',
      description:
        'Waits until a video has ended, for at most wait_seconds, and returns its state: with the link to the file if it has succeeded, with the reason and what to do about it if it has failed. If it still runs, call it again. A video takes some minutes.',
      ...reading,
      input: Type.Object(
        { video_id: videoId, wait_seconds: secondsToWait('Default: as long as the server allows. Wait') },
        { additionalProperties: false },
      ),
      async run({ video_id, wait_seconds }, call) {
        const look = () => call.api.call<VideoTaskObject>('GET', pathOf(video_id))
        const maxMs = wait_seconds === undefined ? maxWaitMs : Math.min(wait_seconds * 1000, maxWaitMs)
        const describe = ({ status }: VideoTaskObject) => `the video is ${status}`
        return shownTask(await waitFor({ look, hasEnded, describe, maxMs }, call))
      },
    }),
    defineTool({
      name: 'get_video',
      title: 'Get a video',
      description: 'Reads the state of a video, with the link to its file. The link needs no credential, and expires.',
      ...reading,
      input: Type.Object({ video_id: videoId }, { additionalProperties: false }),
      run: async ({ video_id }, { api }) => shownTask(await api.call<VideoTaskObject>('GET', pathOf(video_id))),
    }),
    defineTool({
      name: 'list_videos',
      title: 'List videos',
      description: "Lists the caller's videos, the newest first.",
      ...reading,
      input: Type.Object(
        {
          status: wordInput([...runningStatuses, 'succeeded', 'failed', 'cancelled'], 'Only videos with this status'),
          page: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Default 1' })),
          limit: Type.Optional(Type.Integer({ minimum: 1, maximum: maxVideos, description: 'Default 20' })),
        },
        { additionalProperties: false },
      ),
      async run({ status, page = 1, limit = 20 }, { api }) {
        const query = { page_num: page, page_size: limit, 'filter.status': status }
        const { items, total } = await api.call<VideoTaskPageBody>('GET', tasks, { query })
        return { videos: items.map(shownTask), total }
      },
    }),
  ]
}

const runningStatuses: readonly string[] = ['queued', 'running']

const hasEnded = ({ status }: VideoTaskObject): boolean => !runningStatuses.includes(status)

const shownTask = ({ id, model, status, error, created_at, content, usage, ...task }: VideoTaskObject) => {
  const advice = error ? toolAdviceFor(error.code, error.message) : undefined
  return {
    ...{ video_id: id, model, status, created_at: new Date(created_at * 1000).toISOString() },
    ...(content?.video_url !== undefined && { video_url: content.video_url }),
    ...(content?.last_frame_url !== undefined && { last_frame_url: content.last_frame_url }),
    ...(usage && { usage }),
    ...Object.fromEntries(shownFields.flatMap((name) => (task[name] === undefined ? [] : [[name, task[name]]]))),
    ...(error && { error: { code: error.code, message: error.message } }),
    ...(advice && { advice }),
  }
}

const shownFields = ['duration', 'resolution', 'ratio', 'generate_audio']
