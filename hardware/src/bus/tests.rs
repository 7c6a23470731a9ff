mod damage;
mod line;
mod peek;
mod world;
