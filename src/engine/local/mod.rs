//! The engine that runs llama.cpp in this process. Every llama.cpp object is made, used and dropped in this room.
