/** @type {typeof import('../en/uploads.js').uploads} */
export const uploads = {
  uploads: {
    title: '上传',
    choose: '上传文件',
    dropHint: '可将图片、视频和音频文件拖放到本页面任意位置，或直接粘贴。',
    drop: (group) => `松开即可添加到 ${group}`,
    notOffered: '本服务器不存储文件，请用文件地址添加素材。',
    progressOf: (name) => `${name} 的上传进度`,
    cancelOf: (name) => `取消上传 ${name}`,
    retryOf: (name) => `重试 ${name}`,
    dismiss: '关闭',
    dismissOf: (name) => `关闭 ${name}`,
    sent: (sent, total) => `${sent} / ${total}`,
    states: {
      waiting: '等待中',
      sending: '上传中',
      creating: '正在添加到素材组',
      processing: '处理中',
      failed: '失败',
    },
  },
}
